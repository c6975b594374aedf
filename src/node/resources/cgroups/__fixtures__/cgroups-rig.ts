import type { Pod } from "../../../../api/gen/types.ts";
import type { Log } from "../../../../base/log.ts";
import { silentLog } from "../../../../base/log.ts";
import type { Decision } from "../../../../base/timeline.ts";
import type { CgroupUsage } from "../../../../host/cgroups-port.ts";
import type { CgroupTreeOperation, FakeCgroupTree } from "../../../../host/fake/fake-cgroup-tree.ts";
import { createFakeCgroupTree } from "../../../../host/fake/fake-cgroup-tree.ts";
import { createFakeClock, type FakeClock } from "../../../../host/fake/fake-clock.ts";
import { createFakeSystemd, type FakeSystemd } from "../../../../host/fake/fake-systemd.ts";
import { fileError } from "../../../../host/file-error.ts";
import { type ClassRequests, NO_CLASS_REQUESTS } from "../../sizes/class-requests.ts";
import { type CgroupHierarchy, type ClassLimits, createCgroupHierarchy } from "../cgroup-hierarchy.ts";
import { type CgroupDriver, partsOf } from "../cgroup-name.ts";
import { createPodCgroups, type PodCgroups } from "../pod-cgroups.ts";
import { createSliceTree } from "../slice-tree.ts";

/**
 * In this rig, CPU shares are thousandths of a core, and a pod asks for as many, and as many bytes of memory, as its
 * annotation says.
 */
export interface CgroupsRig {
  readonly clock: FakeClock;
  readonly tree: FakeCgroupTree;
  /** The systemd of the driver `systemd`. It is missing at first. */
  readonly systemd: FakeSystemd;
  readonly hierarchy: CgroupHierarchy;
  readonly pods: PodCgroups;
  readonly warnings: readonly string[];
  /** What the classes were heard to ask for, at each change. */
  readonly requests: readonly ClassRequests[];
  readonly nodeEvents: Decision[];
  readonly stopping: AbortController;
}

export const NODE_LIMITS = { cpuShares: 2_048n, memoryBytes: 1_000n };
export const POD_LIMITS = { cpuShares: 7n, maxTasks: 9n };

interface CgroupsRigOptions {
  readonly driver?: CgroupDriver;
  /** The memory of the burstable pods, of which that of the guaranteed pods is kept back. Undefined: no limit. */
  readonly classMemory?: bigint;
  /** Pods have their cgroups beneath this one, and what they ask for is protected. Default: beneath the root, and it is not. */
  readonly protectedRoot?: string;
  askRuntime?(): Promise<void>;
  readUsage?(): Promise<CgroupUsage>;
}

export function createCgroupsRig(options: CgroupsRigOptions = {}): CgroupsRig {
  const { driver = "cgroupfs", askRuntime } = options;
  const clock = createFakeClock();
  const tree = createFakeCgroupTree({ made: () => undefined, removed: () => undefined });
  const systemd = createFakeSystemd();
  const warnings: string[] = [];
  const requests: ClassRequests[] = [];
  const log: Log = { ...silentLog, warn: (message) => void warnings.push(message) };
  const classLimits = ({ Guaranteed, Burstable }: ClassRequests): ClassLimits => {
    const memory =
      options.classMemory === undefined ? {} : { memoryBytes: options.classMemory - Guaranteed.memoryBytes };
    return {
      Guaranteed: {
        hugepages: new Map([["2MB", 1n]]),
        ...(options.protectedRoot !== undefined && { memoryMin: Guaranteed.memoryBytes + Burstable.memoryBytes }),
      },
      Burstable: { cpuShares: Burstable.milliCpu, ...memory },
      BestEffort: { cpuShares: 2n },
    };
  };
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
      classLimits: classLimits(NO_CLASS_REQUESTS),
    },
    { root: options.protectedRoot ?? "/" },
  );
  const pods = createPodCgroups({
    clock,
    log,
    hierarchy,
    limitsOf: () => POD_LIMITS,
    readUsage: async () => await options.readUsage?.(),
    amountsOf: ({ metadata }) => {
      const milliCpu = BigInt(metadata?.annotations?.["milliCpu"] ?? "0");
      return { milliCpu, memoryBytes: milliCpu };
    },
    classLimits,
    protectedRoot: options.protectedRoot === undefined ? undefined : partsOf(options.protectedRoot),
    onRequests: (now) => requests.push(now),
  });
  return { clock, tree, systemd, hierarchy, pods, warnings, requests, nodeEvents: [], stopping: new AbortController() };
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

/** Makes a pod of the guaranteed class. */
export function makeGuaranteedPod(uid: string, milliCpu: number): Pod {
  const amounts = { cpu: `${milliCpu}m`, memory: String(milliCpu) };
  return {
    metadata: { uid, name: uid, namespace: "default", annotations: { milliCpu: String(milliCpu) } },
    spec: { containers: [{ name: "c", image: "i", resources: { requests: amounts, limits: amounts } }] },
  };
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
