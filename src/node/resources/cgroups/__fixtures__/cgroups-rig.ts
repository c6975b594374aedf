import type { Pod } from "../../../../api/gen/types.ts";
import type { Log } from "../../../../base/log.ts";
import { silentLog } from "../../../../base/log.ts";
import type { Decision } from "../../../../base/timeline.ts";
import type { CgroupTreeOperation, FakeCgroupTree } from "../../../../host/fake/fake-cgroup-tree.ts";
import { createFakeCgroupTree } from "../../../../host/fake/fake-cgroup-tree.ts";
import { createFakeClock, type FakeClock } from "../../../../host/fake/fake-clock.ts";
import { createFakeSystemd, type FakeSystemd } from "../../../../host/fake/fake-systemd.ts";
import { fileError } from "../../../../host/file-error.ts";
import { type CgroupHierarchy, type ClassLimits, createCgroupHierarchy } from "../cgroup-hierarchy.ts";
import type { CgroupDriver } from "../cgroup-name.ts";
import { createPodCgroups, type PodCgroups } from "../pod-cgroups.ts";
import { createSliceTree } from "../slice-tree.ts";

/** In this rig, CPU shares are thousandths of a core, and a pod asks for as many as its annotation says. */
export interface CgroupsRig {
  readonly clock: FakeClock;
  readonly tree: FakeCgroupTree;
  /** The systemd of the driver `systemd`. It is missing at first. */
  readonly systemd: FakeSystemd;
  readonly hierarchy: CgroupHierarchy;
  readonly pods: PodCgroups;
  readonly warnings: readonly string[];
  readonly nodeEvents: Decision[];
  readonly stopping: AbortController;
}

export const NODE_LIMITS = { cpuShares: 2_048n, memoryBytes: 1_000n };
export const POD_LIMITS = { cpuShares: 7n, maxTasks: 9n };

export function createCgroupsRig(options: { driver?: CgroupDriver; askRuntime?(): Promise<void> } = {}): CgroupsRig {
  const { driver = "cgroupfs", askRuntime } = options;
  const clock = createFakeClock();
  const tree = createFakeCgroupTree({ made: () => undefined, removed: () => undefined });
  const systemd = createFakeSystemd();
  const warnings: string[] = [];
  const log: Log = { ...silentLog, warn: (message) => void warnings.push(message) };
  const classLimits = (milliCpu: bigint): ClassLimits => ({
    Guaranteed: { hugepages: new Map([["2MB", 1n]]) },
    Burstable: { cpuShares: milliCpu },
    BestEffort: { cpuShares: 2n },
  });
  const hierarchy = createCgroupHierarchy(
    {
      clock,
      log,
      async driver() {
        await askRuntime?.();
        return driver;
      },
      async treeOf(asked) {
        if (asked === "cgroupfs") return tree;
        return createSliceTree(
          { clock, files: tree, systemd },
          { cgroupVersion: 2, systemdVersion: await systemd.readVersion() },
        );
      },
      readLimits: async () => NODE_LIMITS,
      classLimits: classLimits(0n),
    },
    { root: "/" },
  );
  const pods = createPodCgroups({
    clock,
    log,
    hierarchy,
    limitsOf: () => POD_LIMITS,
    readUsage: async () => undefined,
    milliCpuOf: ({ metadata }) => BigInt(metadata?.annotations?.["milliCpu"] ?? "0"),
    classLimits,
  });
  return { clock, tree, systemd, hierarchy, pods, warnings, nodeEvents: [], stopping: new AbortController() };
}

/** Creates a rig whose runtime lets systemd make its cgroups, and in which systemd is present. */
export function createSystemdRig(): CgroupsRig {
  const rig = createCgroupsRig({ driver: "systemd" });
  rig.systemd.fault = undefined;
  rig.systemd.onStart = (unit) => {
    const parts = unit.slice(0, -".slice".length).split("-");
    const path = parts.map((_, index) => `/${parts.slice(0, index + 1).join("-")}.slice`).join("");
    void rig.tree.make(path);
  };
  return rig;
}

/** Makes a pod of the burstable class where it asks for CPU, and of the best-effort class otherwise. */
export function makePod(uid: string, milliCpu?: number): Pod {
  const requests = milliCpu === undefined ? undefined : { cpu: `${milliCpu}m` };
  return {
    metadata: { uid, name: uid, namespace: "default", annotations: { milliCpu: String(milliCpu ?? 0) } },
    spec: { containers: [{ name: "c", image: "i", ...(requests && { resources: { requests } }) }] },
  };
}

/** Makes the operation fail on this path, this many times. */
export function failing(
  operation: CgroupTreeOperation,
  path: string,
  { code = "ENOSPC", times = Number.POSITIVE_INFINITY }: { code?: "ENOSPC" | "EROFS" | "EBUSY"; times?: number } = {},
): FakeCgroupTree["fault"] {
  let left = times;
  return (what, where) =>
    what === operation && where === path && left-- > 0 ? fileError(code, what, where) : undefined;
}
