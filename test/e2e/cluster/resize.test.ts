import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Pod } from "../../../src/api/gen/types.ts";
import { quantityMilliValue } from "../../../src/api/quantity.ts";
import { createLinuxCgroups } from "../../../src/host/linux/cgroups/linux-cgroups.ts";
import { containerOf, isRunning, RUN_FOR_EVER, shellPod } from "../pods.ts";
import { type ClusterNode, createClusterNode } from "./cluster-node.ts";

const MIB = 1024 * 1024;
const limitOf = (pod: Pod, resource: string) => containerOf(pod, "main")?.resources?.limits?.[resource];
const conditionOf = (pod: Pod, type: string) => pod.status?.conditions?.find((each) => each.type === type);

describe("pods that are resized in place", () => {
  let world: ClusterNode;
  beforeAll(async () => {
    world = await createClusterNode();
    await world.node.start(world.flags);
  });
  afterAll(async () => await world?.destroy());

  const run = async (name: string, container: object = {}): Promise<Pod> => {
    const limits = { cpu: "100m", memory: "64Mi" };
    await world.create(shellPod(name, RUN_FOR_EVER, {}, { resources: { requests: limits, limits }, ...container }));
    return await world.pod(name, isRunning);
  };
  const resize = async (name: string, cpu: string, memory: string) => {
    const resources = { requests: { cpu, memory }, limits: { cpu, memory } };
    const patch = { spec: { containers: [{ name: "main", resources }] } };
    await world.api.patch("strategic", `/api/v1/namespaces/default/pods/${name}/resize`, patch);
  };
  const memoryLimit = "cat /sys/fs/cgroup/memory.max 2>/dev/null || cat /sys/fs/cgroup/memory/memory.limit_in_bytes";

  it("get other limits and run on, also where an agent comes in between", async () => {
    const before = await run("grows");
    await resize("grows", "200m", "96Mi");
    const grown = await world.pod(
      "grows",
      (pod) => limitOf(pod, "cpu") === "200m" && limitOf(pod, "memory") === "96Mi",
    );
    expect(containerOf(grown, "main")?.containerID).toBe(containerOf(before, "main")?.containerID);
    expect(Number(await world.shell("grows", memoryLimit))).toBe(96 * MIB);
    await world.event("grows", { type: "Normal", reason: "ResizeStarted" });
    await world.event("grows", { type: "Normal", reason: "ResizeCompleted" });
    await world.node.kill();
    await resize("grows", "150m", "80Mi");
    await world.node.start(world.flags);
    const shrunk = await world.pod(
      "grows",
      (pod) => limitOf(pod, "cpu") === "150m" && limitOf(pod, "memory") === "80Mi",
    );
    expect(containerOf(shrunk, "main")).toMatchObject({
      containerID: containerOf(before, "main")?.containerID,
      restartCount: 0,
      allocatedResources: { cpu: "150m", memory: "80Mi" },
    });
    const limits = { cpu: "150m", memory: "80Mi" };
    expect(shrunk.status).toMatchObject({ allocatedResources: limits, resources: { requests: limits, limits } });
    expect(Number(await world.shell("grows", memoryLimit))).toBe(80 * MIB);
  });

  it("are bounded by what they set as a whole, in containers without limits of their own", async () => {
    const limits = { cpu: "100m", memory: "48Mi" };
    await world.create(shellPod("as-a-whole", RUN_FOR_EVER, { resources: { requests: limits, limits } }));
    const pod = await world.pod("as-a-whole", isRunning);
    expect(pod.status?.qosClass).toBe("Guaranteed");
    expect(Number(await world.shell("as-a-whole", memoryLimit))).toBe(48 * MIB);
    const more = { cpu: "150m", memory: "64Mi" };
    const resources = { requests: more, limits: more };
    await world.api.patch("strategic", "/api/v1/namespaces/default/pods/as-a-whole/resize", { spec: { resources } });
    const resized = await world.pod("as-a-whole", ({ status }) => status?.resources?.limits?.["memory"] === "64Mi");
    expect(resized.status).toMatchObject({ resources, allocatedResources: more });
    expect(containerOf(resized, "main")?.containerID).toBe(containerOf(pod, "main")?.containerID);
    expect(Number(await world.shell("as-a-whole", memoryLimit))).toBe(64 * MIB);
  });

  it("are bounded by what they are given as a whole while they run", async () => {
    const before = await run("given-a-whole");
    const limits = { cpu: "150m", memory: "96Mi" };
    const resources = { requests: limits, limits };
    const path = "/api/v1/namespaces/default/pods/given-a-whole/resize";
    await world.api.patch("strategic", path, { spec: { resources } });
    const resized = await world.pod("given-a-whole", ({ status }) => status?.resources?.limits?.["memory"] === "96Mi");
    expect(resized.status).toMatchObject({ resources, allocatedResources: limits });
    expect(containerOf(resized, "main")?.containerID).toBe(containerOf(before, "main")?.containerID);
    const { cgroup } = world.node;
    if (cgroup === undefined) return;
    const ofPod = await createLinuxCgroups().read(`${cgroup.cgroupRoot}/kubepods/pod${before.metadata?.uid}`);
    expect(ofPod?.memory?.limit).toBe(96 * MIB);
  });

  it("start anew where the policy of a resource says so", async () => {
    await run("starts-anew", { resizePolicy: [{ resourceName: "memory", restartPolicy: "RestartContainer" }] });
    await resize("starts-anew", "100m", "96Mi");
    const anew = await world.pod("starts-anew", (pod) => isRunning(pod) && limitOf(pod, "memory") === "96Mi");
    expect(containerOf(anew, "main")?.restartCount).toBe(1);
  });

  it("wait where the node has no room, and run on as they are", async () => {
    await run("too-big");
    await resize("too-big", "1000", "64Mi");
    const waiting = await world.pod("too-big", (pod) => conditionOf(pod, "PodResizePending") !== undefined);
    expect(conditionOf(waiting, "PodResizePending")).toMatchObject({
      reason: "Deferred",
      message: expect.stringMatching(/^Node didn't have enough resource: cpu, requested: 1000000, /),
    });
    expect(containerOf(waiting, "main")?.allocatedResources).toMatchObject({ cpu: "100m" });
    await resize("too-big", "100m", "64Mi");
    await world.pod("too-big", (pod) => conditionOf(pod, "PodResizePending") === undefined);
  });

  it("wait until another pod has given back what it lacks", async () => {
    const allocatable = quantityMilliValue((await world.nodeObject()).status?.allocatable?.["cpu"] ?? "0");
    // A core is for this file's other pods and for the one that waits, which does not get as much.
    const much = { cpu: `${Number(allocatable) - 1000}m`, memory: "64Mi" };
    await run("gives-back", { resources: { requests: much, limits: much } });
    await run("awaits");
    await resize("awaits", "1100m", "64Mi");
    await world.pod("awaits", (pod) => conditionOf(pod, "PodResizePending")?.reason === "Deferred");
    await resize("gives-back", "10m", "64Mi");
    await world.pod("awaits", (pod) => limitOf(pod, "cpu") === "1100m");
  });
});
