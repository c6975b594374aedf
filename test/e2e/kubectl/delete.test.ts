import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ClusterUnderTest, startClusterUnderTest } from "./cluster-under-test.ts";
import type { Kubectl } from "./kubectl.ts";
import { bind, configMap, node, pod, RUNNING, setStatus, workload } from "./manifests.ts";
import { rowsOf } from "./tables.ts";

describe("kubectl delete and wait", () => {
  let cluster: ClusterUnderTest;
  let kubectl: Kubectl;
  beforeAll(async () => {
    cluster = await startClusterUnderTest();
    kubectl = cluster.kubectl;
    await kubectl.ok("create -f -", { input: node("worker") });
  });
  afterAll(async () => await cluster?.stop());

  const create = async (...items: object[]) =>
    await kubectl.ok("create -f -", { input: { apiVersion: "v1", kind: "List", items } });
  const exists = async (object: string) => (await kubectl.ok(`get ${object} -o name --ignore-not-found`)) !== "";

  /** An old kubectl does not wait for what is gone already. */
  const untilGone = async (object: string) => {
    const { code, stderr } = await kubectl.run(`wait --for=delete ${object} --timeout=20s`);
    if (code !== 0) expect(stderr).toMatch(/no matching resources found|not found/);
  };

  it("lets a pod on a node have its grace period, and takes it away with --force", async () => {
    await create(pod({ name: "graceful" }));
    await bind(kubectl, { pods: ["graceful"], to: "worker" });
    await setStatus(kubectl, "/api/v1/namespaces/default/pods/graceful", RUNNING);
    expect(await kubectl.ok("delete pod graceful --wait=false")).toMatch(
      /^pod "graceful" deleted( from default namespace)?\n$/,
    );
    expect(rowsOf(await kubectl.ok("get pods"))).toEqual([
      "NAME | READY | STATUS | RESTARTS | AGE",
      "graceful | 1/1 | Terminating | 0 | AGE",
    ]);
    const seconds = "get pod graceful -o jsonpath={.metadata.deletionGracePeriodSeconds}";
    expect(await kubectl.ok(seconds)).toBe("30");
    await kubectl.ok("delete pod graceful --wait=false --grace-period=5");
    expect(await kubectl.ok(seconds)).toBe("5");
    await kubectl.ok("delete pod graceful --wait=false --grace-period=60");
    expect(await kubectl.ok(seconds)).toBe("5");
    // Newer ones log on stderr too when their own time-out cut the watch within its first second.
    expect(await kubectl.fails("delete pod graceful --timeout=2s")).toMatch(
      /^error: timed out waiting for the condition on pods\/graceful\n$/m,
    );
    const { code, stdout, stderr } = await kubectl.run("delete pod graceful --force --grace-period=0");
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/^pod "graceful" force deleted/) });
    expect(stderr.toLowerCase()).toContain("warning: immediate deletion does not wait for confirmation");
    expect(await exists("pod/graceful")).toBe(false);
  });

  it("takes a pod away at once that is on no node", async () => {
    await create(pod({ name: "pending" }));
    await kubectl.ok("delete pod pending");
    expect(await exists("pod/pending")).toBe(false);
    expect(await kubectl.fails("delete pod pending")).toBe('Error from server (NotFound): pods "pending" not found\n');
    expect(await kubectl.ok("delete pod pending --ignore-not-found")).toBe("");
  });

  it("deletes by label, all of a kind, and by manifest", async () => {
    const labelled = (name: string, app: string) => configMap({ name, labels: { app } });
    await create(labelled("a", "one"), labelled("b", "one"), labelled("c", "two"));
    expect(await kubectl.ok("delete configmap -l app=one")).toMatch(
      /^configmap "a" deleted.*\nconfigmap "b" deleted.*\n$/,
    );
    expect(await kubectl.ok("delete -f - --dry-run=server", { input: labelled("c", "two") })).toContain(
      "(server dry run)",
    );
    expect(await exists("configmap/c")).toBe(true);
    await kubectl.ok("delete -f -", { input: labelled("c", "two") });
    await create(pod({ name: "x" }), pod({ name: "y" }));
    await kubectl.ok("delete pods --all");
    expect(await kubectl.ok("get pods -o name")).toBe("");
  });

  it.each([
    ["background", false],
    ["foreground", false],
    ["orphan", true],
  ])("deletes an owner with --cascade=%s", async (policy, staysBehind) => {
    const name = `owner-${policy}`;
    await create(workload("ReplicaSet", { name }, { replicas: 0 }));
    const uid = await kubectl.ok(`get replicaset ${name} -o jsonpath={.metadata.uid}`);
    const owner = { apiVersion: "apps/v1", kind: "ReplicaSet", name, uid, controller: true, blockOwnerDeletion: true };
    await create(configMap({ name: `owned-${policy}`, ownerReferences: [owner] }));
    expect(await kubectl.ok(`delete replicaset ${name} --cascade=${policy}`)).toMatch(
      /^replicaset\.apps "\S+" deleted/,
    );
    expect(await exists(`replicaset/${name}`)).toBe(false);
    if (!staysBehind) return await untilGone(`configmap/owned-${policy}`);
    expect(await kubectl.ok(`get configmap owned-${policy} -o jsonpath={.metadata.ownerReferences}`)).toBe("");
  });

  it("empties a namespace with it, and waits for a pod that is still there", async () => {
    await kubectl.ok("create namespace doomed");
    const namespace = "doomed";
    await create(configMap({ name: "inside", namespace }), pod({ name: "held", namespace }));
    await bind(kubectl, { pods: ["held"], to: "worker", namespace });
    expect(await kubectl.ok("delete namespace doomed --wait=false")).toBe('namespace "doomed" deleted\n');
    expect(await kubectl.ok("get namespace doomed -o jsonpath={.status.phase}")).toBe("Terminating");
    expect(await kubectl.fails("create configmap late -n doomed")).toContain(
      'configmaps "late" is forbidden: unable to create new content in namespace doomed because it is being terminated\n',
    );
    await kubectl.ok("wait --for=condition=NamespaceContentRemaining namespace/doomed --timeout=10s");
    await kubectl.ok("delete pod held -n doomed --force --grace-period=0");
    await untilGone("namespace/doomed");
    expect(await kubectl.ok("get all,configmaps,serviceaccounts -n doomed")).toBe("");
    expect(await kubectl.fails("delete namespace default")).toContain(
      'namespaces "default" is forbidden: this namespace may not be deleted',
    );
  });

  it("keeps what has a finalizer until that is taken off", async () => {
    await create(configMap({ name: "kept" }));
    const finalizers = (names: string[]) => [
      "patch",
      "configmap",
      "kept",
      "--type=merge",
      "-p",
      JSON.stringify({ metadata: { finalizers: names } }),
    ];
    await kubectl.ok(finalizers(["example.com/guard"]));
    await kubectl.ok("delete configmap kept --wait=false");
    expect(await kubectl.ok("get configmap kept -o jsonpath={.metadata.deletionTimestamp}")).toMatch(/Z$/);
    await kubectl.ok(finalizers([]));
    expect(await exists("configmap/kept")).toBe(false);
  });

  it("waits for conditions, deletions and values", async () => {
    await create(pod({ name: "awaited" }));
    expect(await kubectl.fails("wait --for=condition=Ready pod/awaited --timeout=1s")).toContain(
      "error: timed out waiting for the condition on pods/awaited",
    );
    const ready = kubectl.ok("wait --for=condition=Ready pod/awaited --timeout=20s");
    await setStatus(kubectl, "/api/v1/namespaces/default/pods/awaited", RUNNING);
    expect(await ready).toBe("pod/awaited condition met\n");
    if (kubectl.minor >= 23) {
      expect(await kubectl.ok("wait --for=jsonpath={.status.phase}=Running pod/awaited --timeout=5s")).toBe(
        "pod/awaited condition met\n",
      );
    }
    const gone = untilGone("pod/awaited");
    await kubectl.ok("delete pod awaited");
    await gone;
    expect(await exists("pod/awaited")).toBe(false);
  });
});
