import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PODS } from "../../../src/api/kube-resource.ts";
import { removeRuntime } from "../../../src/cluster/containerd/remove-runtime.ts";
import { DEMO_IMAGE } from "../../../src/cluster/images/image-references.ts";
import { type ApiClient, createApiClient } from "../../contract/api/client.ts";
import { credentialsOf } from "../../contract/api/credentials-of.ts";
import { claimNetwork, claimPort } from "../../machine/claims.ts";
import { KUBE_TOOLS } from "../../machine/kube-tools.ts";
import { runProgram } from "../program.ts";
import { createHelm, type Helm } from "./run-helm.ts";

const { bridge: BRIDGE, podCidr: POD_CIDR } = await claimNetwork();
const CHART = join(import.meta.dirname, "shop");
const NAMESPACE = "store-front";
const IN_NAMESPACE = ["--namespace", NAMESPACE];
const WAIT = ["--wait", "--timeout", "120s"];
const IMAGE = ["--set", `image=${DEMO_IMAGE}`];

describe("an ordinary chart on nodelet up", () => {
  let state: string;
  let api: ApiClient;
  let helm: Helm;
  beforeAll(async () => {
    state = await mkdtemp(join(tmpdir(), "nodelet-e2e-"));
    const { code, stdout, stderr } = await runProgram(
      ...["up", "--detach", "--state-dir", state, "--healthz-port", "0", "--api-port", `${await claimPort()}`],
      ...["--bridge", BRIDGE, "--pod-cidr", POD_CIDR, "--kubelet-arg=--fail-swap-on=false"],
    );
    expect({ code, stderr }, stdout).toEqual({ code: 0, stderr: "" });
    const kubeconfig = join(state, "kubeconfig");
    api = createApiClient(credentialsOf(await readFile(kubeconfig, "utf8")));
    helm = createHelm({ path: process.env["HELM_BIN"] ?? KUBE_TOOLS.helm, home: state, kubeconfig });
  });
  afterAll(async () => {
    api?.close();
    await runProgram("down", "--pods", "--now", "--state-dir", state);
    await removeRuntime(join(state, "containerd"));
    await rm(state, { recursive: true, force: true });
  });

  const read = async (path: string) => await api.object("GET", path);
  const namespaced = (group: string, rest: string) => `${group}/namespaces/${NAMESPACE}/${rest}`;
  const password = async () => Object((await read(namespaced("/api/v1", "secrets/shop-password")))["data"]).password;
  const podsOf = async (app: string) => {
    const { items } = await api.list(namespaced("/api/v1", "pods"), { labelSelector: `app=${app}` });
    return items.map((item) => PODS.read(item)).filter(({ metadata }) => metadata?.deletionTimestamp === undefined);
  };
  const greetingOf = async () => {
    const [pod] = await podsOf("shop");
    return (await api.json("GET", namespaced("/api/v1", `pods/${pod?.metadata?.name}/log`))).body;
  };

  it("is refused by its own schema, and leaves nothing", async () => {
    expect(await helm.fails("install", "shop", CHART, ...IN_NAMESPACE)).toMatch(/image/);
    expect((await api.json("GET", `/api/v1/namespaces/${NAMESPACE}`)).status).toBe(404);
  });

  it("is installed with its hooks, and its objects become ready", async () => {
    await helm.ok("install", "shop", CHART, ...IN_NAMESPACE, "--create-namespace", ...IMAGE, ...WAIT);
    expect((await podsOf("shop")).map(({ status }) => status?.phase)).toEqual(["Running"]);
    expect(await greetingOf()).toBe("hello\n");
    expect((await api.json("GET", namespaced("/apis/batch/v1", "jobs/prepare"))).status).toBe(404);
    expect(await read(namespaced("/apis/shop.example.com/v1", "baskets/first"))).toMatchObject({ spec: { apples: 3 } });
    await helm.ok("test", "shop", ...IN_NAMESPACE, "--timeout", "120s");
  });

  it("is upgraded and rolled back, and keeps what it is to keep", async () => {
    const before = { password: await password(), store: (await podsOf("store"))[0]?.metadata?.uid };
    const changes = ["--set", "greeting=again,replicas=2"];
    await helm.ok("upgrade", "shop", CHART, ...IN_NAMESPACE, ...IMAGE, ...changes, ...WAIT);
    expect(await podsOf("shop")).toHaveLength(2);
    expect(await greetingOf()).toBe("again\n");
    await helm.ok("rollback", "shop", "1", ...IN_NAMESPACE, ...WAIT);
    expect(await greetingOf()).toBe("hello\n");
    expect({ password: await password(), store: (await podsOf("store"))[0]?.metadata?.uid }).toEqual(before);
    expect(JSON.parse(await helm.ok("history", "shop", ...IN_NAMESPACE, "-o", "json"))).toHaveLength(3);
  });

  it("fails with the reason when an upgrade is wrong, and goes on as it was", async () => {
    const wrong = ["--set-json", "replicas=1.5"];
    await helm.fails("upgrade", "shop", CHART, ...IN_NAMESPACE, ...IMAGE, ...wrong);
    expect((await podsOf("shop")).some(({ status }) => status?.phase === "Running")).toBe(true);
  });

  it("is uninstalled, and leaves what helm leaves", async () => {
    await helm.ok("uninstall", "shop", ...IN_NAMESPACE);
    const left = async () => {
      const lists = [
        "apps/v1/deployments",
        "apps/v1/statefulsets",
        "batch/v1/cronjobs",
        "policy/v1/poddisruptionbudgets",
      ];
      const objects = lists.map(async (list) => {
        const [group, version, plural] = list.split("/");
        return (await api.list(namespaced(`/apis/${group}/${version}`, `${plural}`))).items;
      });
      return [...(await Promise.all(objects)).flat(), ...(await api.list(namespaced("/api/v1", "pods"))).items];
    };
    await expect.poll(async () => (await left()).map(({ metadata }) => metadata.name)).toEqual(["shop-test"]);
    const { items: claims } = await api.list(namespaced("/api/v1", "persistentvolumeclaims"));
    expect(claims.map(({ metadata }) => metadata.name)).toEqual(["data-store-0"]);
  });
});
