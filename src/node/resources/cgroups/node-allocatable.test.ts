import { describe, expect, it } from "vitest";
import { type CgroupsRig, createCgroupsRig, failing, NODE_LIMITS } from "./__fixtures__/cgroups-rig.ts";
import { createNodeAllocatable, type ReservedCgroup } from "./node-allocatable.ts";

async function createRig(reserved: readonly ReservedCgroup[] = []) {
  const rig: CgroupsRig = createCgroupsRig();
  await rig.hierarchy.raise(rig.stopping.signal);
  const { clock, hierarchy, nodeEvents } = rig;
  const recordNodeEvent = (decision: (typeof nodeEvents)[number]) => void nodeEvents.push(decision);
  const deps = { clock, hierarchy, readLimits: async () => NODE_LIMITS, recordNodeEvent };
  return { ...rig, allocatable: createNodeAllocatable(deps, { reserved }) };
}

const SYSTEM: ReservedCgroup = { path: "/system", of: "System", compressibleOnly: false, limits: { memoryBytes: 3n } };
const KUBE: ReservedCgroup = { path: "/kube/own", of: "Kube", compressibleOnly: true, limits: { cpuShares: 4n } };

describe("what pods may have of the node", () => {
  it("is told as an event once it is enforced", async () => {
    const { allocatable, tree, nodeEvents, stopping } = await createRig();
    await tree.limit("/kubepods", { memoryBytes: 1n });
    await allocatable.run(stopping.signal);
    expect(tree.limits.get("/kubepods")).toEqual(NODE_LIMITS);
    const message = "Updated Node Allocatable limit across pods";
    expect(nodeEvents).toEqual([{ type: "Normal", reason: "NodeAllocatableEnforced", message }]);
  });

  it("is tried again each minute while pods use more", async () => {
    const { allocatable, clock, tree, nodeEvents, stopping } = await createRig();
    tree.fault = failing("limit", "/kubepods", { code: "EBUSY", times: 1 });
    const running = allocatable.run(stopping.signal);
    await clock.advance(59_999);
    expect(nodeEvents).toMatchObject([
      {
        type: "Warning",
        reason: "FailedNodeAllocatableEnforcement",
        message: expect.stringMatching(/^Failed to update Node Allocatable Limits \["kubepods"\]: EBUSY/),
      },
    ]);
    await clock.advance(1);
    await running;
    expect(nodeEvents.at(-1)).toMatchObject({ reason: "NodeAllocatableEnforced" });
  });
});

describe("a reserved cgroup", () => {
  it("is held to what is set aside for it", async () => {
    const { allocatable, tree, nodeEvents, stopping } = await createRig([SYSTEM, KUBE]);
    for (const path of ["/system", "/kube/own"]) await tree.make(path);
    await allocatable.run(stopping.signal);
    expect(tree.limits.get("/system")).toEqual({ memoryBytes: 3n });
    expect(tree.limits.get("/kube/own")).toEqual({ cpuShares: 4n });
    expect(nodeEvents.map(({ message }) => message)).toEqual([
      "Updated limits on system reserved cgroup /system",
      "Updated limits on kube reserved cgroup /kube/own",
      "Updated Node Allocatable limit across pods",
    ]);
  });

  it.each([
    [
      SYSTEM,
      /^Failed to enforce System Reserved Cgroup Limits on "\/system": cgroup \["system"\] has some missing paths/,
    ],
    [KUBE, /^Failed to enforce Kube Reserved Compressible Cgroup Limits on "\/kube\/own": cgroup \["kube" "own"\] has/],
  ])("that is not there ends the node agent, and is told: %o", async (reserved, words) => {
    const { allocatable, nodeEvents, stopping } = await createRig([reserved]);
    await expect(allocatable.run(stopping.signal)).rejects.toThrow(words);
    const message = expect.stringMatching(words);
    expect(nodeEvents).toEqual([{ type: "Warning", reason: "FailedNodeAllocatableEnforcement", message }]);
  });
});
