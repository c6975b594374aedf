import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { silentLog } from "../../../src/base/log.ts";
import { issueKubeconfig } from "../../../src/cluster/control-plane/issue-kubeconfig.ts";
import { type RunningControlPlane, serveControlPlane } from "../../../src/cluster/control-plane/serve-control-plane.ts";
import { decodePodDecisions } from "../../../src/cluster/explain/decode-explanation.ts";
import type { PodDecisions } from "../../../src/explain/pod-decisions.ts";
import { createMemoryJournal } from "../../../src/journal/memory-journal.ts";
import { createCertificates } from "../../../src/testing/cluster-credentials.ts";
import { type ApiClient, createApiClient } from "./client.ts";
import { credentialsOf } from "./credentials-of.ts";

const SOON = { timeout: 60_000, interval: 50 };
const PODS = "/api/v1/namespaces/default/pods";
const DECISIONS = "/apis/explain.nodelet/v1/namespaces/default/pods";
const DAY_MS = 86_400_000;
const AGENT = { headers: { "user-agent": "kubectl/v1.36.0 (linux/amd64)" } };

const pod = (name: string, more: object = {}, metadata: object = {}) => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, ...metadata },
  spec: {
    automountServiceAccountToken: false,
    terminationGracePeriodSeconds: 7,
    containers: [{ name: "main", image: "demo:1" }],
    ...more,
  },
});
const node = (name: string, { memory = "2Gi", ...more }: { memory?: string; taints?: object[] } = {}) => ({
  apiVersion: "v1",
  kind: "Node",
  metadata: { name },
  spec: more,
  status: {
    allocatable: { cpu: "2", memory, pods: "10" },
    conditions: [{ type: "Ready", status: "True", reason: "KubeletReady" }],
  },
});

describe("what the control plane tells of its decisions about pods", () => {
  let directory: string;
  let running: RunningControlPlane;
  let admin: ApiClient;
  let alice: ApiClient;
  let start: () => Promise<void>;
  const clients: ApiClient[] = [];
  const stop = async () => {
    for (const client of clients.splice(0)) client.close();
    await running.close();
  };
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), "nodelet-decisions-"));
    const certificates = await createCertificates();
    const journal = createMemoryJournal();
    start = async () => {
      // Nobody sends heartbeats for these nodes.
      const nodeMonitor = { graceMs: DAY_MS, startupGraceMs: DAY_MS };
      const options = { address: "127.0.0.1", port: 0, serviceCidr: "10.96.0.0/16", version: "test", nodeMonitor };
      const history = { directory: join(directory, "history"), maxBytes: 1024 * 1024, maxAgeMs: DAY_MS };
      running = await serveControlPlane(options, { journal, certificates, history, log: silentLog });
      await running.ready;
      const connect = (kubeconfig: string) => {
        const client = createApiClient(credentialsOf(kubeconfig));
        clients.push(client);
        return client;
      };
      admin = connect(running.kubeconfig);
      const user = { url: running.url, name: "alice", groups: [], lifetimeMs: DAY_MS };
      alice = connect(await issueKubeconfig(certificates, user));
    };
    await start();
    await admin.object("POST", "/api/v1/nodes", node("small"));
    await admin.object("POST", "/api/v1/nodes", node("tainted", { taints: [{ key: "gpu", effect: "NoSchedule" }] }));
  });
  afterAll(async () => {
    await stop();
    await rm(directory, { recursive: true, force: true });
  });

  const decisions = async (name: string): Promise<PodDecisions> => {
    const { status, body } = await admin.json("GET", `${DECISIONS}/${name}`);
    expect(status).toBe(200);
    return decodePodDecisions(body);
  };
  const told = async (name: string, reason: string) => {
    const { steps } = await decisions(name);
    return steps.filter((step) => step.reason === reason).map(({ message }) => message);
  };
  const scheduled = async (name: string) =>
    await expect.poll(async () => await told(name, "Scheduled"), SOON).toHaveLength(1);

  it("names the user and the program of a deletion, and who removed the pod", async () => {
    await admin.object("POST", PODS, pod("deleted"));
    await scheduled("deleted");
    await admin.object("DELETE", `${PODS}/deleted`, undefined, AGENT);
    await admin.object("DELETE", `${PODS}/deleted`, { gracePeriodSeconds: 0 }, AGENT);
    expect(await told("deleted", "DeletionRequested")).toEqual([
      "The pod's end was asked for by kubernetes-admin with kubectl/v1.36.0 (linux/amd64), within 7 s",
    ]);
    expect(await told("deleted", "RemovedFromApi")).toEqual([
      "The pod's object was removed by kubernetes-admin with kubectl/v1.36.0 (linux/amd64)",
    ]);
  });

  it("tells an eviction through the API and the deletion of a collection as what they are", async () => {
    for (const name of ["evicted", "collected"]) await admin.object("POST", PODS, pod(name, {}, { labels: { name } }));
    await scheduled("evicted");
    const eviction = { apiVersion: "policy/v1", kind: "Eviction", metadata: { name: "evicted" } };
    await admin.object("POST", `${PODS}/evicted/eviction`, eviction, AGENT);
    expect(await told("evicted", "DeletionRequested")).toEqual([
      expect.stringMatching(
        /^The pod's end was asked for by kubernetes-admin with kubectl.*: an eviction through the API$/,
      ),
    ]);
    await admin.json("DELETE", `${PODS}?labelSelector=name%3Dcollected`, undefined, AGENT);
    expect(await told("collected", "DeletionRequested")).toEqual([
      expect.stringMatching(/kubernetes-admin with kubectl/),
    ]);
  });

  it("names the garbage collector, the taint manager and the namespace with their causes", async () => {
    const owner = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "owner" } };
    const { metadata } = await admin.object("POST", "/api/v1/namespaces/default/configmaps", owner);
    const reference = { apiVersion: "v1", kind: "ConfigMap", name: "owner", uid: metadata.uid };
    await admin.object("POST", PODS, pod("owned", {}, { ownerReferences: [reference] }));
    await admin.object("DELETE", "/api/v1/namespaces/default/configmaps/owner");
    await expect
      .poll(async () => await told("owned", "DeletionRequested"), SOON)
      .toEqual([expect.stringMatching(/by system:apiserver, .*: the garbage collector, because .*: ConfigMap owner$/)]);

    await admin.object(
      "POST",
      PODS,
      pod("tolerant", { nodeName: "tainted", tolerations: [{ key: "gpu", operator: "Exists" }] }),
    );
    await admin.patch("merge", "/api/v1/nodes/tainted", {
      spec: {
        taints: [
          { key: "gpu", effect: "NoSchedule" },
          { key: "broken", value: "yes", effect: "NoExecute" },
        ],
      },
    });
    await expect
      .poll(async () => await told("tolerant", "DeletionRequested"), SOON)
      .toEqual([
        expect.stringMatching(
          /: the taint manager, because the pod does not tolerate broken=yes:NoExecute on its node tainted$/,
        ),
      ]);
  });

  it("tells node by node why a pod waits, with the numbers, and later why it was placed where it is", async () => {
    await admin.object(
      "POST",
      PODS,
      pod("large", { containers: [{ name: "main", image: "demo:1", resources: { requests: { memory: "4Gi" } } }] }),
    );
    await expect.poll(async () => await told("large", "NodesRefused"), SOON).toHaveLength(1);
    const [why] = await told("large", "NodesRefused");
    expect(why).toMatch(
      /NodeResourcesFit refuses small \(memory: asks for 4Gi, .* of 2Gi is free\): Insufficient memory/,
    );
    expect(why).toMatch(
      /TaintToleration refuses tainted \{[^}]*gpu:NoSchedule[^}]*\}: node\(s\) had untolerated taint/,
    );
    await admin.object("POST", "/api/v1/nodes", node("big", { memory: "8Gi" }));
    await scheduled("large");
    expect(await told("large", "Scheduled")).toEqual([
      expect.stringMatching(/^The pod was placed on big, the only node that fits; .*NodeResourcesFit refuses small/),
    ]);
  });

  it("is for those alone who have the right, and has no other verbs and no other resources", async () => {
    expect((await alice.json("GET", `${DECISIONS}/deleted`)).status).toBe(403);
    const rules = [{ apiGroups: ["explain.nodelet"], resources: ["pods"], verbs: ["get"] }];
    const meta = { name: "explainer", namespace: "default" };
    const group = "rbac.authorization.k8s.io";
    const roles = `/apis/${group}/v1/namespaces/default`;
    await admin.object("POST", `${roles}/roles`, { apiVersion: `${group}/v1`, kind: "Role", metadata: meta, rules });
    await admin.object("POST", `${roles}/rolebindings`, {
      apiVersion: `${group}/v1`,
      kind: "RoleBinding",
      metadata: meta,
      roleRef: { apiGroup: group, kind: "Role", name: "explainer" },
      subjects: [{ apiGroup: group, kind: "User", name: "alice" }],
    });
    expect((await alice.json("GET", `${DECISIONS}/deleted`)).status).toBe(200);
    expect((await alice.json("GET", DECISIONS.replace("default", "kube-system").concat("/x"))).status).toBe(403);
    expect((await admin.json("DELETE", `${DECISIONS}/deleted`)).status).toBe(405);
    expect((await admin.json("GET", DECISIONS)).status).toBe(404);
    expect((await admin.json("GET", `${DECISIONS.replace("/v1/", "/v2/")}/deleted`)).status).toBe(404);
  });

  it("knows it after a restart, and of names that nobody had it knows nothing", async () => {
    await stop();
    await start();
    expect(await told("deleted", "DeletionRequested")).toHaveLength(1);
    expect(await decisions("nobody")).toMatchObject({ steps: [], gaps: [] });
  });
});
