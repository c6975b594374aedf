import { describe, expect, it } from "vitest";
import { createFakeCgroupTree } from "../../../host/fake/fake-cgroup-tree.ts";
import { createFakeClock } from "../../../host/fake/fake-clock.ts";
import { createFakeSystemd } from "../../../host/fake/fake-systemd.ts";
import { SystemdError } from "../../../host/systemd-port.ts";
import { failing } from "./__fixtures__/cgroups-rig.ts";
import { createSliceTree } from "./slice-tree.ts";

const PARENT = "/kubepods.slice";
const UNIT = "kubepods-poda.slice";
const POD = `${PARENT}/${UNIT}`;

/** `startMs` is how long systemd takes until the cgroup is there; undefined means for ever. */
async function createRig({ startMs = 0 }: { startMs?: number | undefined } = {}) {
  const clock = createFakeClock();
  const files = createFakeCgroupTree({ made: () => undefined, removed: () => undefined });
  await files.make(PARENT);
  const systemd = createFakeSystemd();
  systemd.fault = undefined;
  systemd.onStart = (unit) => {
    if (startMs === 0) void files.make(`${PARENT}/${unit}`);
    else if (Number.isFinite(startMs)) clock.setTimer(startMs, () => void files.make(`${PARENT}/${unit}`));
  };
  const tree = createSliceTree({ clock, files, systemd }, { cgroupVersion: 2, systemdVersion: 252 });
  return { clock, files, systemd, tree };
}

const refusing = (calls: readonly string[]) => (call: string) =>
  calls.includes(call) ? new SystemdError("failed", `${call} is refused`) : undefined;

describe("a slice", () => {
  it("is made with its limits in one call, and what systemd does not keep is set in the files", async () => {
    const { files, systemd, tree } = await createRig();
    const limits = { cpuShares: 1_024n, cpuQuotaMicroseconds: 1_500n, cpuPeriodMicroseconds: 100_000n, maxTasks: 9n };
    await tree.make(POD, limits);
    await tree.limit(POD, limits);
    expect(systemd.calls).toEqual([`StartTransientUnit ${UNIT}`]);
    expect(systemd.units.get(UNIT)).toEqual(
      new Map<string, unknown>([
        ["Description", `libcontainer container ${UNIT}`],
        ["Wants", ["kubepods.slice"]],
        ["MemoryAccounting", true],
        ["CPUAccounting", true],
        ["IOAccounting", true],
        ["TasksAccounting", true],
        ["DefaultDependencies", false],
        ["CPUWeight", 39n],
        ["CPUQuotaPeriodUSec", 100_000n],
        ["CPUQuotaPerSecUSec", 20_000n],
        ["TasksMax", 9n],
      ]),
    );
    expect(files.limits.get(POD)).toEqual({ ...limits, cpuQuotaMicroseconds: 2_000n });
  });

  it("at the top is in systemd's root", async () => {
    const { files, systemd, tree } = await createRig();
    systemd.onStart = (unit) => void files.make(`/${unit}`);
    await tree.make("/other.slice");
    expect(systemd.units.get("other.slice")?.get("Wants")).toEqual(["-.slice"]);
  });

  it("is limited again by another call, of what systemd keeps", async () => {
    const { files, systemd, tree } = await createRig();
    const limits = { cpuShares: 2n };
    await tree.make(POD, limits);
    for (let times = 0; times < 2; times++) await tree.limit(POD, limits);
    await tree.limit(POD, { hugepages: new Map([["2MB", 1n]]) });
    expect(systemd.calls).toEqual([`StartTransientUnit ${UNIT}`, `SetUnitProperties ${UNIT}`]);
    expect(files.limits.get(POD)).toEqual({ cpuShares: 2n, hugepages: new Map([["2MB", 1n]]) });
  });

  it("is waited for", async () => {
    const { clock, files, tree } = await createRig({ startMs: 100 });
    let isMade = false;
    const made = tree.make(POD).then(() => {
      isMade = true;
    });
    await clock.advance(99);
    expect([isMade, files.children(PARENT)]).toEqual([false, []]);
    await clock.advance(300);
    await made;
    expect(files.children(PARENT)).toEqual([UNIT]);
  });

  it("that does not come is an error after half a minute", async () => {
    const { clock, systemd, tree } = await createRig({ startMs: Number.POSITIVE_INFINITY });
    const made = expect(tree.make(POD)).rejects.toThrow(`Timeout waiting for systemd to create ${UNIT}`);
    await clock.advance(31_000);
    await made;
    expect(systemd.calls.at(-1)).toBe(`ResetFailedUnit ${UNIT}`);
    expect(clock.untilNextTimer()).toBeUndefined();
  });

  it("that runs is taken over, and its limits are set", async () => {
    const { systemd, tree } = await createRig();
    await tree.make(POD);
    await tree.make(POD, { maxTasks: 5n });
    await tree.limit(POD, { maxTasks: 5n });
    expect(systemd.calls.slice(1)).toEqual([
      `StartTransientUnit ${UNIT}`,
      `ActiveState ${UNIT}`,
      `SetUnitProperties ${UNIT}`,
    ]);
    expect(systemd.units.get(UNIT)?.get("TasksMax")).toBe(5n);
  });

  it("that has a file of its own is started as it is", async () => {
    const { files, systemd, tree } = await createRig();
    systemd.fault = refusing([`StartTransientUnit ${UNIT}`]);
    await tree.make(POD);
    expect(systemd.calls).toContain(`StartUnit ${UNIT}`);
    expect(files.findLack(POD)).toBeUndefined();
  });

  it("that systemd refuses is an error in its words", async () => {
    const { files, systemd, tree } = await createRig();
    systemd.fault = refusing([`StartTransientUnit ${UNIT}`, `StartUnit ${UNIT}`]);
    await expect(tree.make(POD)).rejects.toThrow(`StartTransientUnit ${UNIT} is refused`);
    systemd.fault = () => new SystemdError("failed", "the bus is gone");
    await expect(tree.make(POD)).rejects.toThrow("the bus is gone");
    expect(files.children(PARENT)).toEqual([]);
  });

  it("is removed by one call, after its processes", async () => {
    const { files, systemd, tree } = await createRig();
    await tree.make(POD);
    files.enter(`${POD}/container`, 5);
    await tree.remove(POD, { killing: true });
    expect(files.killed).toEqual([5]);
    expect(systemd.calls.slice(1)).toEqual([`StopUnit ${UNIT}`]);
    expect([systemd.units.size, files.children(PARENT)]).toEqual([0, []]);
  });

  it("stays, and runs on, while somebody's processes are in it", async () => {
    const { files, systemd, tree } = await createRig();
    await tree.make(POD);
    files.enter(`${POD}/container`, 5);
    await expect(tree.remove(POD, { killing: false })).rejects.toMatchObject({ code: "EBUSY" });
    files.fault = failing("remove", POD, { code: "EBUSY" });
    await expect(tree.remove(POD, { killing: true })).rejects.toMatchObject({ code: "EBUSY" });
    expect(systemd.calls).toEqual([`StartTransientUnit ${UNIT}`]);
  });

  it("that cannot be stopped is an error only where it runs", async () => {
    const { systemd, tree } = await createRig();
    systemd.fault = refusing([`StopUnit ${UNIT}`]);
    await tree.remove(POD, { killing: true });
    await tree.make(POD);
    await expect(tree.remove(POD, { killing: true })).rejects.toThrow(`StopUnit ${UNIT} is refused`);
  });
});
