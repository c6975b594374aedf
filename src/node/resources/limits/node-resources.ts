/** What this node is and how it was configured, as far as the resources of its pods depend on it. */
export interface NodeResources {
  /** The whole machine's memory, for the OOM scores and the share of swap. Positive. */
  memoryCapacityBytes: bigint;
  /** `cpuCFSQuota`: whether CPU limits are enforced at all. */
  cpuCfsQuota: boolean;
  /** The period that CPU quotas refer to. kubelet's is 100000 unless `cpuCFSQuotaPeriod` says otherwise. */
  cpuCfsQuotaPeriodMicroseconds: bigint;
  cgroupVersion: 1 | 2;
  /** Kill only the process that hit the memory limit, not its whole container. Always so on cgroup v1. */
  singleProcessOomKill: boolean;
  swap: NodeSwap;
  /** As cgroups name them (`2MB`, `1GB`), in the order in which limits are to be listed. */
  hugepageSizes: readonly string[];
}

interface NodeSwap {
  /** Whether the kernel accounts swap per cgroup; without it nothing can be said about swap. */
  controllerAvailable: boolean;
  /** `memorySwap.swapBehavior`; kubelet's default is NoSwap. */
  behavior: "NoSwap" | "LimitedSwap";
  capacityBytes: bigint;
}
