/** The properties and the configuration of this node that decide how large cgroups are. */
export interface SizingFacts {
  /** The whole machine's memory, from which OOM scores and shares of swap are computed. It is positive. */
  memoryCapacityBytes: bigint;
  /** The value of `cpuCFSQuota`: CPU limits are enforced where it is true. */
  cpuCfsQuota: boolean;
  /** The period that CPU quotas refer to. kubelet's is 100000 unless `cpuCFSQuotaPeriod` says otherwise. */
  cpuCfsQuotaPeriodMicroseconds: bigint;
  cgroupVersion: 1 | 2;
  /** False: the kernel neither limits nor counts the memory of cgroups. */
  hasMemoryController: boolean;
  /**
   * True when the kernel kills the process that hit the memory limit and not its whole container. On cgroup v1 it
   * always does so.
   */
  singleProcessOomKill: boolean;
  swap: SizingSwap;
  /** The page sizes as cgroups name them (`2MB`, `1GB`), in the order in which limits are listed. */
  hugepageSizes: readonly string[];
  /** Undefined: memory is neither protected nor throttled, as on cgroup v1, without the controller and without the gate `MemoryQoS`. */
  memoryQos?: MemoryQos | undefined;
  /** What `qosReserved` keeps back for better QoS classes. Undefined: nothing, as without the gate `QOSReserved`. */
  memoryKeptBack?: MemoryKeptBack | undefined;
}

/** How memory is protected and throttled. */
export interface MemoryQos {
  /** `memoryReservationPolicy` is `TieredReservation`: what pods ask for is protected. */
  readonly isReserving: boolean;
  /** `memoryThrottlingFactor`, above 0 and at most 1. */
  readonly throttlingFactor: number;
  /** The memory that pods may use, which counts as the limit of a container without one. */
  readonly allocatableBytes: bigint;
}

/** The part of what better classes ask for that others may not use. */
interface MemoryKeptBack {
  /** 0…100. */
  readonly percent: bigint;
  readonly allocatableBytes: bigint;
}

interface SizingSwap {
  /** True where the kernel accounts swap for each cgroup; a container can be given a limit of swap only there. */
  controllerAvailable: boolean;
  /** `memorySwap.swapBehavior`; kubelet's default is NoSwap. */
  behavior: "NoSwap" | "LimitedSwap";
  capacityBytes: bigint;
}
