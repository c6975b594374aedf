import type { CgroupTree } from "./cgroup-tree-port.ts";
import type { MemoryMarks } from "./memory-marks-port.ts";

/**
 * The kernel's count of what groups of processes use of the machine. A cgroup is named by its path beneath the root of
 * its hierarchy, `/k8s.io/ID`. In version 1, where every controller has a hierarchy of its own, the path is the same in
 * all of them. The real adapter and the fake pass one contract suite (`test/contract/host-cgroups.test.ts`).
 */
export interface Cgroups extends CgroupTree {
  /**
   * Finds the cgroups of containers by the containers' ids, which runtimes put into the names: `ID`,
   * `cri-containerd-ID.scope`, `crio-ID.scope`. Ids without a cgroup are missing from the result. It looks through the
   * whole tree, which costs some milliseconds, so it is meant for containers that are new.
   */
  find(ids: ReadonlySet<string>): Promise<ReadonlyMap<string, string>>;
  /**
   * Returns undefined when there is no such cgroup. With `details` it also reads values that only a page of metrics
   * shows.
   */
  read(path: string, options?: { readonly details?: boolean }): Promise<CgroupUsage | undefined>;
  /** How long the tasks of the cgroup have waited; empty where the kernel does not tell, as with version 1. */
  pressure(path: string): Promise<CgroupPressure>;
  /** The cgroup of this process. Undefined where the process is in different cgroups for processors and memory. */
  own(): Promise<string | undefined>;
  /**
   * Opens notifications about memory; the caller must follow them, which gives back what they hold. Undefined on version
   * 2, which has none. Throws with the kernel's code, such as `EMFILE`.
   */
  openMemoryMarks(): MemoryMarks | undefined;
}

/** The usage of one cgroup with all that is below it. A value that the kernel does not tell is undefined. */
export interface CgroupUsage {
  readonly cpu: CgroupCpu | undefined;
  readonly memory: CgroupMemory | undefined;
  /** The processes of the cgroup itself. */
  readonly pids: readonly number[];
  /** How long the tasks of the cgroup have waited; version 2 only. */
  readonly pressure: CgroupPressure;
  readonly details: CgroupDetails | undefined;
}

/** Counters in nanoseconds. Past 2^53 (104 days of one processor) they are rounded to what a number can hold. */
export interface CgroupCpu {
  readonly usageNanoseconds: number;
  readonly userNanoseconds: number;
  readonly systemNanoseconds: number;
}

/** All amounts are in bytes. */
export interface CgroupMemory {
  readonly usage: number;
  /** `usage` without the pages of files that were not used lately, which the kernel takes back first. */
  readonly workingSet: number;
  /** Anonymous memory. */
  readonly rss: number;
  /** Pages of files. */
  readonly cache: number;
  readonly mappedFile: number;
  readonly activeFile: number;
  readonly inactiveFile: number;
  readonly swap: number;
  /** Counters. */
  readonly pageFaults: number;
  readonly majorPageFaults: number;
  /** Undefined: as much as there is. */
  readonly limit: number | undefined;
  /** The limit of memory and swap together in version 1, of swap alone in version 2, as each version has it. */
  readonly swapLimit: number | undefined;
}

/** The memory of a cgroup that holds nothing. */
export const NO_CGROUP_MEMORY: CgroupMemory = {
  usage: 0,
  workingSet: 0,
  rss: 0,
  cache: 0,
  mappedFile: 0,
  activeFile: 0,
  inactiveFile: 0,
  swap: 0,
  pageFaults: 0,
  majorPageFaults: 0,
  limit: undefined,
  swapLimit: undefined,
};

/** The pressure on each resource that is watched. */
export interface CgroupPressure {
  readonly cpu?: Pressure;
  readonly memory?: Pressure;
  readonly io?: Pressure;
}

/** `some`: at least one task waited; `full`: all of them did. */
export interface Pressure {
  readonly some: PressureShare;
  readonly full: PressureShare;
}

/** Per cent of the last seconds, and the sum as the kernel counts it, in microseconds. */
export interface PressureShare {
  readonly avg10: number;
  readonly avg60: number;
  readonly avg300: number;
  readonly totalMicroseconds: number;
}

/** Values that dashboards show beside usage. */
export interface CgroupDetails {
  /** The unit is that of version 1, where 1024 are one processor. */
  readonly cpuShares: number | undefined;
  readonly cpuPeriodMicroseconds: number | undefined;
  /** Undefined: no quota. */
  readonly cpuQuotaMicroseconds: number | undefined;
  readonly throttling: CgroupThrottling | undefined;
  readonly maxMemoryUsage: number | undefined;
  /** How often the limit was met. */
  readonly memoryFailures: number | undefined;
  readonly kernelMemory: number | undefined;
  readonly memoryReservation: number | undefined;
  readonly oomKills: number | undefined;
  readonly tasks: number | undefined;
  /** Undefined: as many as there may be. */
  readonly maxTasks: number | undefined;
  /** Each device that the kernel counts for the cgroup. */
  readonly disks: readonly DiskTraffic[];
}

/** Counters of what was read from a block device and written to it. */
export interface DiskTraffic {
  /** The path, such as `/dev/sda`; the numbers, such as `8:0`, where the kernel shows no name. */
  readonly device: string;
  /** The device's numbers, such as `8:0`. */
  readonly numbers: string;
  /** Bytes by the kernel's names of operations: `Read`, `Write`, and with version 1 `Sync`, `Async`, `Discard`, `Total`. */
  readonly bytesByOperation: ReadonlyMap<string, number>;
  readonly reads: number;
  readonly writes: number;
  readonly readBytes: number;
  readonly writtenBytes: number;
  /** Told where the kernel divides the device by a model of its cost (version 2, `io.cost.qos`). */
  readonly cost?: DiskCost;
}

/** Counters of the device's time in microseconds, as the model counts it. */
export interface DiskCost {
  readonly usage: number;
  readonly wait: number;
  /** What was used ahead of the share, and what was waited for that. */
  readonly inDebt: number;
  readonly inDelay: number;
}

/** The counters of a quota. */
export interface CgroupThrottling {
  readonly periods: number;
  readonly throttledPeriods: number;
  readonly throttledNanoseconds: number;
  readonly burstPeriods: number;
  readonly burstNanoseconds: number;
}
