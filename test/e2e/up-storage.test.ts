import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type KubeObject, typed } from "../../src/api/object.ts";
import { removeRuntime } from "../../src/cluster/containerd/remove-runtime.ts";
import { computePauseImage } from "../../src/cluster/images/build-images.ts";
import { buildImageArchive } from "../../src/cluster/images/image-archive.ts";
import { DEMO_IMAGE, PAUSE_IMAGE } from "../../src/cluster/images/image-references.ts";
import { type ApiClient, createApiClient } from "../contract/api/client.ts";
import { credentialsOf } from "../contract/api/credentials-of.ts";
import { claimNetwork, claimPort } from "../machine/claims.ts";
import { RUN_FOR_EVER, shellPod } from "./pods.ts";
import { runProgram } from "./program.ts";

const { bridge: BRIDGE, podCidr: POD_CIDR } = await claimNetwork();

const NAMESPACE = "/api/v1/namespaces/default";
const CLAIM = `${NAMESPACE}/persistentvolumeclaims/data`;
const SOON = { timeout: 90_000, interval: 200 };

describe("the storage and the manifests of nodelet up", () => {
  let directory: string;
  let state: string;
  let manifests: string;
  let api: ApiClient;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), "nodelet-e2e-"));
    state = join(directory, "state");
    manifests = join(directory, "manifests");
    await mkdir(manifests);
    const { code, stderr } = await runProgram(
      ...["up", "--detach", "--state-dir", state, "--manifests", manifests, "--healthz-port", "0"],
      ...["--bridge", BRIDGE, "--pod-cidr", POD_CIDR, "--kubelet-arg=--fail-swap-on=false"],
      ...["--api-port", String(await claimPort()), "--no-dns"],
    );
    expect(stderr).toBe("");
    expect(code).toBe(0);
    api = createApiClient(credentialsOf(await readFile(join(state, "kubeconfig"), "utf8")));
  });
  afterAll(async () => {
    api?.close();
    await runProgram("down", "--pods", "--now", "--state-dir", state);
    await removeRuntime(join(state, "containerd"));
    await rm(directory, { recursive: true, force: true });
  });

  const read = async (path: string): Promise<KubeObject | undefined> =>
    await api.object("GET", path).catch(() => undefined);
  /** Runs a pod with the claim at /data to its end. */
  const runWithClaim = async (name: string, script: string) => {
    const pod = shellPod(
      name,
      script,
      { restartPolicy: "Never", volumes: [{ name: "data", persistentVolumeClaim: { claimName: "data" } }] },
      { volumeMounts: [{ name: "data", mountPath: "/data" }], securityContext: { runAsUser: 1000 } },
    );
    // Pods are refused until the default service account is there.
    const create = async () => (await api.json("POST", `${NAMESPACE}/pods`, pod)).status;
    await expect.poll(create, SOON).toBe(201);
    const phase = async () => {
      const found = await read(`${NAMESPACE}/pods/${name}`);
      return found && typed("Pod", found).status?.phase;
    };
    await expect.poll(phase, SOON).toBe("Succeeded");
    await api.object("DELETE", `${NAMESPACE}/pods/${name}`, { gracePeriodSeconds: 0 });
  };

  it("leaves names to the DNS server of somebody else, where everybody's manifests of CoreDNS put it", async () => {
    const script = "cp /etc/resolv.conf /dev/termination-log";
    const create = async () =>
      (await api.json("POST", `${NAMESPACE}/pods`, shellPod("asks", script, { restartPolicy: "Never" }))).status;
    await expect.poll(create, SOON).toBe(201);
    const said = async () => {
      const found = await read(`${NAMESPACE}/pods/asks`);
      return found && typed("Pod", found).status?.containerStatuses?.[0]?.state?.terminated?.message;
    };
    await expect.poll(said, SOON).toContain("nameserver 10.96.0.10\n");
    expect(await read("/api/v1/namespaces/kube-system/services/kube-dns")).toBeUndefined();
    await api.object("DELETE", `${NAMESPACE}/pods/asks`, { gracePeriodSeconds: 0 });
  });

  it("gives a claim of the default class a directory that outlives pods and goes with the claim", async () => {
    const spec = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } };
    const claim = { apiVersion: "v1", kind: "PersistentVolumeClaim", metadata: { name: "data" }, spec };
    await api.object("POST", `${NAMESPACE}/persistentvolumeclaims`, claim);
    await runWithClaim("writer", "ln -s /etc /data/link; echo kept > /data/file");
    await runWithClaim("reader", "grep kept /data/file");
    const bound = typed("PersistentVolumeClaim", await api.object("GET", CLAIM));
    expect(bound).toMatchObject({ spec: { storageClassName: "local-directory" }, status: { phase: "Bound" } });
    const volumes = join(state, "volumes");
    expect(await readFile(join(volumes, bound.spec?.volumeName ?? "", "file"), "utf8")).toBe("kept\n");
    await api.object("DELETE", CLAIM);
    await expect.poll(async () => (await api.list("/api/v1/persistentvolumes")).items.length, SOON).toBe(0);
    expect(await readdir(volumes)).toEqual([]);
  });

  it("lists, loads, removes and prunes images", async () => {
    const images = async (...args: string[]) => await runProgram("images", ...args, "--state-dir", state);
    const name = "localhost/nodelet-e2e/extra:1";
    const archive = join(directory, "extra.tar");
    const architecture = process.arch === "arm64" ? "arm64" : "amd64";
    // Another configuration makes it another image than the one of sandboxes.
    const extra = { ...computePauseImage(architecture), reference: name, config: { Entrypoint: ["/extra"] } };
    await writeFile(archive, await buildImageArchive(extra));
    const broken = join(directory, "broken.tar");
    await writeFile(broken, "no archive");
    const loaded = await images("load", broken, archive);
    expect(loaded).toMatchObject({ code: 1, stderr: expect.stringContaining(`${broken}: it is neither`) });
    expect(loaded.stdout).toContain(`loaded ${name}`);
    expect((await images("ls")).stdout).toMatch(/localhost\/nodelet-e2e\/extra:1 +\w+ +[\d.]+k?B +kept/);
    expect(await images("rm", PAUSE_IMAGE)).toMatchObject({ code: 1, stderr: expect.stringContaining("needs it") });
    expect(await images("rm", name)).toMatchObject({ code: 0, stdout: `removed ${name}\n` });
    await images("load", archive);
    const pruned = await images("prune", "-o", "json");
    expect(JSON.parse(pruned.stdout)).toMatchObject({ removed: [], problems: [] });
    await images("rm", name);
    const left: { images: Array<{ names: string[] }> } = JSON.parse((await images("ls", "-o", "json")).stdout);
    expect(left.images.flatMap(({ names }) => names).sort()).toEqual([DEMO_IMAGE, PAUSE_IMAGE]);
  });

  it("runs the pods of a manifest, applies all else in it, and takes both away with the file", async () => {
    const documents = [
      shellPod("web", RUN_FOR_EVER),
      { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "settings", namespace: "team" }, data: { a: "1" } },
      { apiVersion: "v1", kind: "Namespace", metadata: { name: "team" } },
    ];
    await writeFile(join(manifests, "all.yaml"), documents.map((one) => JSON.stringify(one)).join("\n---\n"));
    const settings = "/api/v1/namespaces/team/configmaps/settings";
    await expect.poll(async () => await read(settings), SOON).toMatchObject({ data: { a: "1" } });
    const status = async (...more: string[]) => (await runProgram("status", "--state-dir", state, ...more)).stdout;
    await expect.poll(status, SOON).toMatch(/web-\S+ +1\/1 +Running/);
    expect(await status()).toMatch(/^all\.yaml +Applied +2/m);
    expect(JSON.parse(await status("-o", "json")).manifests).toMatchObject([{ file: "all.yaml", status: "Applied" }]);
    await writeFile(join(manifests, "bad.yaml"), JSON.stringify({ ...shellPod("x", "x"), metadata: { name: "a_b" } }));
    await expect.poll(status, SOON).toMatch(/^bad\.yaml +Failed +0 +document 1: metadata\.name: Invalid value/m);
    await rm(join(manifests, "bad.yaml"));
    await expect.poll(status, SOON).not.toContain("bad.yaml");
    await rm(join(manifests, "all.yaml"));
    await expect.poll(async () => (await api.json("GET", "/api/v1/namespaces/team")).status, SOON).toBe(404);
    await expect.poll(status, SOON).not.toMatch(/web-|all\.yaml/);
  });
});
