import { totalmem } from "node:os";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Pod } from "../../../src/api/gen/types.ts";
import { type ClusterNode, createClusterNode } from "../cluster/cluster-node.ts";
import { settlesOn } from "../cluster/settles.ts";
import { isRunning, RUN_FOR_EVER, shellPod } from "../pods.ts";
import { readRunningContainers } from "../runtime-state.ts";

const MIB = 1024 ** 2;
const isFailed = (pod: Pod) => pod.status?.phase === "Failed";
const isSucceeded = (pod: Pod) => pod.status?.phase === "Succeeded";
const isUnschedulable = ({ status }: Pod) =>
  status?.conditions?.some(({ reason }) => reason === "Unschedulable") === true;
const PODS_PATH = "/api/v1/namespaces/default/pods";
/** In memory the volume counts as its container's, and goes with the pod. */
const filling = (name: string, mebibytes: number, { medium = "" } = {}) =>
  shellPod(
    name,
    `head -c ${mebibytes * MIB} /dev/zero > /v/data; ${RUN_FOR_EVER}`,
    { volumes: [{ name: "v", emptyDir: medium === "" ? {} : { medium } }] },
    { volumeMounts: [{ name: "v", mountPath: "/v" }] },
  );
const asking = { resources: { requests: { memory: "8Mi" } } };

const conditionOf = async (world: ClusterNode, type: string) =>
  (await world.nodeObject()).status?.conditions?.find((condition) => condition.type === type)?.status;
const targetOf = ({ status }: Pod) => status?.conditions?.find(({ type }) => type === "DisruptionTarget");

/** Pods may use so much memory together, and other loads of the machine do not matter for it. */
const FOR_PODS_MIB = 600;
const LEFT_MIB = 400;

describe("a node whose pods run out of memory", () => {
  let world: ClusterNode;
  beforeAll(async () => {
    world = await createClusterNode({
      configuration: {
        kubeReserved: { memory: String(totalmem() - FOR_PODS_MIB * MIB) },
        evictionHard: { "allocatableMemory.available": `${LEFT_MIB}Mi` },
        evictionPressureTransitionPeriod: "4s",
      },
    });
    await world.node.start(world.flags);
  });
  afterAll(async () => await world?.destroy());

  it("ends who took most over what it asked for, refuses who asks for nothing, and recovers", async () => {
    await world.create(shellPod("modest", RUN_FOR_EVER, {}, asking));
    const modest = await world.pod("modest", isRunning);
    await world.create(filling("greedy", FOR_PODS_MIB - LEFT_MIB + 60, { medium: "Memory" }));
    const evicted = await world.pod("greedy", isFailed, 20_000);
    const { reason, message = "" } = evicted.status ?? {};
    expect(reason).toBe("Evicted");
    expect(message).toMatch(
      /^The node was low on resource: memory\. Threshold quantity: 400Mi, available: \d+(Ki|Mi)\. Container main was using \d+(Ki|Mi), request is 0, has larger consumption of memory\. $/,
    );
    expect(targetOf(evicted)).toMatchObject({ status: "True", reason: "TerminationByKubelet", message });
    const event = await world.event("greedy", { type: "Warning", reason: "Evicted", message });
    expect(event.metadata.annotations).toMatchObject({ offending_containers: "main", starved_resource: "memory" });
    await world.event("e2e", {
      type: "Warning",
      reason: "EvictionThresholdMet",
      message: "Attempting to reclaim memory",
    });
    await settlesOn("True", async () => await conditionOf(world, "MemoryPressure"), 10_000);
    const taint = { key: "node.kubernetes.io/memory-pressure", effect: "NoSchedule" };
    const taints = async () => (await world.nodeObject()).spec?.taints?.map(({ key, effect }) => ({ key, effect }));
    await settlesOn([taint], taints, 10_000);
    await world.api.object("POST", PODS_PATH, shellPod("waiting", RUN_FOR_EVER));
    const waiting = await world.pod("waiting", isUnschedulable, 10_000);
    expect(waiting.spec?.nodeName).toBeUndefined();
    // These are bound already: the node agent itself says no.
    await world.create(shellPod("late", RUN_FOR_EVER));
    await world.create(shellPod("asking", RUN_FOR_EVER, {}, asking));
    const late = await world.pod("late", isFailed, 10_000);
    const refused = "Pod was rejected: The node had condition: [MemoryPressure]. ";
    expect(late.status).toMatchObject({ reason: "Evicted", message: refused });
    await world.pod("asking", isRunning);
    await settlesOn("False", async () => await conditionOf(world, "MemoryPressure"), 25_000);
    await world.pod("waiting", isRunning);
    const after = await world.pod("modest", isRunning);
    expect(after.status?.containerStatuses).toEqual(modest.status?.containerStatuses);
    const told = (await world.node.report()).events.filter(({ pod }) => pod.name === "greedy");
    const explanation = told.find((each) => each.reason === "EvictionRank")?.message;
    expect(explanation).toMatch(/^allocatableMemory\.available: .* Place 1 of 2: .* After it: default\/modest/);
  });
});

describe("a node whose disk is too full", () => {
  let world: ClusterNode;
  beforeAll(async () => {
    world = await createClusterNode();
    await world.node.start(world.flags);
  });
  afterAll(async () => await world?.destroy());

  it("removes what has ended, then ends one after another, who has most on it first, but no static pod", async () => {
    await world.create(shellPod("over", "true", { restartPolicy: "Never" }));
    await world.create(filling("writer", 30));
    await world.create(shellPod("reader", RUN_FOR_EVER));
    await world.node.write("static.json", filling("vital", 40));
    await world.pod("over", isSucceeded);
    for (const name of ["writer", "reader"]) await world.pod(name, isRunning);
    await world.node.pod("vital", isRunning);
    await world.node.stop();
    // No disk has so much left; what runs when the node agent starts is not refused, and ends by its rank.
    await world.node.start([...world.flags, "--eviction-hard=nodefs.available<99.9%"]);
    const [writer, reader] = [await world.pod("writer", isFailed), await world.pod("reader", isFailed)];
    for (const { status } of [writer, reader]) {
      expect(status?.reason).toBe("Evicted");
      expect(status?.message).toMatch(/^The node was low on resource: ephemeral-storage\. Threshold quantity: \d+/);
    }
    expect(Date.parse(evictedAt(reader))).toBeGreaterThanOrEqual(Date.parse(evictedAt(writer)));
    const order = [...world.node.log().matchAll(/Evicting pod.*?default\/(writer|reader)/g)].map(([, name]) => name);
    expect(order).toEqual(["writer", "reader"]);
    await settlesOn("True", async () => await conditionOf(world, "DiskPressure"), 10_000);
    await world.create(shellPod("late", RUN_FOR_EVER, {}, asking));
    const late = await world.pod("late", isFailed, 10_000);
    expect(late.status?.message).toBe("Pod was rejected: The node had condition: [DiskPressure]. ");
    expect((await world.node.pod("vital", isRunning)).status?.containerStatuses?.[0]?.restartCount).toBe(0);
    const { containers } = await world.node.cri.runtime.listContainers({ filter: undefined });
    const held = containers.map(({ labels }) => labels["io.kubernetes.pod.name"]);
    expect(held).not.toContain("over");
    expect((await world.read("over"))?.status?.phase).toBe("Succeeded");
    expect((await readRunningContainers(world.node)).map(({ pod }) => pod)).toEqual(["vital-e2e"]);
  });
});

function evictedAt(pod: Pod): string {
  return targetOf(pod)?.lastTransitionTime ?? "";
}
