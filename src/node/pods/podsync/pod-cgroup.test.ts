import { describe, expect, it } from "vitest";
import { makePod, makeRuntimeStatus } from "../../runtime/plan/__fixtures__/runtime-status.ts";
import { createGate, createRig, reference, settle, signal, UID } from "./__fixtures__/pod-sync-rig.ts";

const terminated = { subject: { kind: "pod" as const, pod: makePod({}) }, deleted: true, signal };

describe("the pod's cgroup", () => {
  it("is made before the sandbox, beside the volumes", async () => {
    const { steps, world, sync } = createRig();
    const cgroup = createGate();
    world.makeCgroup = async () => await cgroup.passed;
    const ended = sync(makePod({}));
    await settle();
    expect(steps.at(-1)).toBe("volumes up");
    cgroup.open();
    await ended;
    expect(steps).toContain("sync data");
  });

  it.each([
    ["new", undefined],
    ["kept", makeRuntimeStatus(["main running"])],
  ])("is %s as long as the pod has no sandbox", async (expected, runtime) => {
    const { cgroups, world, sync } = createRig();
    if (runtime !== undefined) world.runtime = runtime;
    await sync(makePod({}));
    expect(cgroups).toEqual([expected]);
  });

  it("is told once, with the time that it took, however often the start is tried", async () => {
    const { clock, world, sync, records } = createRig();
    world.makeCgroup = async () => await clock.advance(40);
    for (let round = 0; round < 3; round++) await sync(makePod({}));
    const made = records().filter(({ reason }) => reason === "CgroupMade");
    expect(made).toMatchObject([{ tookMs: 40, count: 1 }]);
  });

  it("that cannot be made is told, and nothing is started without it", async () => {
    const { steps, world, sync, events } = createRig();
    world.makeCgroup = async () => {
      throw new Error("no space");
    };
    const volumes = createGate();
    world.finishVolumes = async () => await volumes.passed;
    let hasEnded = false;
    const ended = sync(makePod({}))
      .catch((error: unknown) => String(error))
      .finally(() => {
        hasEnded = true;
      });
    await settle();
    expect(hasEnded).toBe(false);
    volumes.open();
    expect(await ended).toBe(
      `PodCgroupError: failed to ensure that the pod: ${UID} cgroups exist and are correctly applied: no space`,
    );
    expect(events()).toEqual([
      "Warning FailedToCreatePodContainer: unable to ensure pod container exists: no space",
      "Normal VolumesReady: Volumes are set up",
    ]);
    expect(steps).not.toContain("sync data");
  });

  it("is removed once the volumes are gone, and before the status is final", async () => {
    const { steps, cgroups, world, syncer } = createRig();
    world.runtime = makeRuntimeStatus(["main exited:0"]);
    await syncer.syncTerminatedPod({ ...terminated, deleted: false });
    expect(cgroups).toEqual([`released ${UID} BestEffort after volumes down`]);
    expect(steps.at(-1)).toBe("terminate");
  });

  it("that cannot be removed keeps the status from being final, and the directory", async () => {
    const { steps, world, syncer } = createRig();
    world.removeCgroup = async () => {
      throw new Error("busy");
    };
    await expect(syncer.syncTerminatedPod(terminated)).rejects.toThrow("busy");
    expect(steps).not.toContain("terminate");
    expect(steps).not.toContain("remove directories");
  });

  it("of an orphan is removed whatever its class", async () => {
    const { cgroups, syncer } = createRig();
    const pod = { ...reference, sandboxes: [], containers: [] };
    await syncer.syncTerminatedPod({ ...terminated, subject: { kind: "orphan", pod } });
    expect(cgroups).toEqual([`released ${UID} of any class after volumes down`]);
  });
});
