import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ClusterUnderTest, startClusterUnderTest } from "./cluster-under-test.ts";
import type { Kubectl } from "./kubectl.ts";
import { bind, node, pod, RUNNING, setStatus, workload } from "./manifests.ts";
import { rowsOf } from "./tables.ts";

/** The template of pods that no scheduler but the test looks at. */
const WEB_TEMPLATE = {
  metadata: { labels: { app: "web" } },
  spec: { schedulerName: "test", containers: [{ name: "main", image: "registry.example/app:1" }] },
};

describe("kubectl with nodes", () => {
  let cluster: ClusterUnderTest;
  let kubectl: Kubectl;
  beforeAll(async () => {
    cluster = await startClusterUnderTest();
    kubectl = cluster.kubectl;
    const budget = {
      apiVersion: "policy/v1",
      kind: "PodDisruptionBudget",
      metadata: { name: "calm" },
      spec: { minAvailable: 1, selector: { matchLabels: { app: "web" } } },
    };
    const items = [
      node("worker"),
      workload("ReplicaSet", { name: "web" }, { template: WEB_TEMPLATE }),
      workload("DaemonSet", { name: "agent" }),
      budget,
    ];
    await kubectl.ok("create -f -", { input: { apiVersion: "v1", kind: "List", items } });
  });
  afterAll(async () => await cluster?.stop());

  const taints = async () => await kubectl.ok("get node worker -o jsonpath={.spec.taints[*].key}");

  it("cordons and uncordons", async () => {
    expect(await kubectl.ok("cordon worker")).toBe("node/worker cordoned\n");
    expect(await kubectl.ok("cordon worker")).toBe("node/worker already cordoned\n");
    expect(rowsOf(await kubectl.ok("get nodes"))).toEqual([
      "NAME | STATUS | ROLES | AGE | VERSION",
      "worker | Ready,SchedulingDisabled | worker | AGE | v1.35.0",
    ]);
    expect(await kubectl.ok("uncordon worker")).toBe("node/worker uncordoned\n");
    expect(await kubectl.ok("get node worker -o jsonpath={.spec.unschedulable}")).toBe("");
  });

  it("taints, overwrites only when told to, and takes taints away", async () => {
    const before = await taints();
    expect(await kubectl.ok("taint node worker lane=slow:NoSchedule")).toBe("node/worker tainted\n");
    expect(await taints()).toContain("lane");
    expect(await kubectl.fails("taint node worker lane=fast:NoSchedule")).toBe(
      "error: node worker already has lane taint(s) with same effect(s) and --overwrite is false\n",
    );
    expect(await kubectl.ok("taint node worker lane=fast:NoSchedule --overwrite")).toBe("node/worker modified\n");
    expect(await kubectl.ok("taint node worker lane-")).toBe("node/worker untainted\n");
    expect(await taints()).toBe(before);
    expect(await kubectl.fails("taint node worker lane-")).toBe('error: taint "lane" not found\n');
  });

  it("drains: pods of daemon sets stay, others are evicted as far as budgets allow", async () => {
    const names = async () => await kubectl.ok("get pods -l app=web -o jsonpath={.items[*].metadata.name}");
    await expect.poll(names).toMatch(/^web-\w+$/);
    const web = await names();
    const onWorker = async () => await kubectl.ok("get pods --field-selector spec.nodeName=worker -o name");
    // The scheduler binds the pod of the daemon set by itself.
    await expect.poll(onWorker).toMatch(/^pod\/agent-\w+\n$/);
    const agent = (await onWorker()).trim();
    await kubectl.ok("create -f -", { input: pod({ name: "bare" }) });
    await bind(kubectl, { pods: [web, "bare"], to: "worker" });
    await setStatus(kubectl, `/api/v1/namespaces/default/pods/${web}`, RUNNING);

    expect(await kubectl.fails("drain worker --ignore-daemonsets --timeout=5s")).toMatch(
      /\(use --force to override\): default\/bare/,
    );
    expect(await kubectl.fails("drain worker --timeout=5s")).toContain(
      `cannot delete DaemonSet-managed Pods (use --ignore-daemonsets to ignore): ${agent.replace("pod", "default")}`,
    );
    await kubectl.ok("delete pod bare --force --grace-period=0");

    const allowed = async () => await kubectl.ok("get pdb calm -o jsonpath={.status.disruptionsAllowed}");
    const healthy = async () => await kubectl.ok("get pdb calm -o jsonpath={.status.currentHealthy}");
    await expect.poll(healthy).toBe("1");
    expect(rowsOf(await kubectl.ok("get poddisruptionbudgets"))).toEqual([
      "NAME | MIN AVAILABLE | MAX UNAVAILABLE | ALLOWED DISRUPTIONS | AGE",
      "calm | 1 | N/A | 0 | AGE",
    ]);
    const refused = await kubectl.run("drain worker --ignore-daemonsets --timeout=2s");
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain("Cannot evict pod as it would violate the pod's disruption budget.");
    expect(await kubectl.ok(`get pod ${web} -o jsonpath={.metadata.deletionTimestamp}`)).toBe("");

    await kubectl.ok(["patch", "pdb", "calm", "--type=merge", "-p", '{"spec":{"minAvailable":0}}']);
    await expect.poll(allowed).toBe("1");
    const terminating = kubectl.start(`get pod ${web} -w`);
    const drained = kubectl.ok("drain worker --ignore-daemonsets --timeout=120s");
    await terminating.prints("Terminating");
    // What a kubelet does once the containers of an evicted pod have ended.
    await kubectl.ok(`delete pod ${web} --force --grace-period=0`);
    await terminating.stop();
    const said = await drained;
    expect(said).toContain(`evicting pod default/${web}\npod/${web} evicted\n`);
    expect(said).toMatch(/node\/worker (drained|evicted)\n$/);
    // Its replica set makes another one, which waits for a node.
    await expect.poll(names).toMatch(/^web-\w+$/);
    expect(await names()).not.toBe(web);
    expect(await onWorker()).toBe(`${agent}\n`);
    await expect.poll(allowed).toBe("0");
  });
});
