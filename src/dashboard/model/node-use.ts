/** What a node and its pods use, and the limits at which pods are evicted: the answer of `/usage`. */
export interface NodeUse {
  readonly node: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly cpuNanoCores: number | undefined;
  readonly memory: MemoryUse;
  readonly nodeFs: FileSystemUse;
  readonly imageFs: FileSystemUse;
  readonly pids: { readonly used: number | undefined; readonly most: number | undefined };
  readonly pods: readonly PodCgroupUse[];
  /** Daemons by their names: `kubelet`, `runtime`, `pods`. */
  readonly system: readonly NamedUse[];
  readonly thresholds: readonly UsageThreshold[];
  /** What could not be read, in words. */
  readonly gaps: readonly string[];
}

interface MemoryUse {
  readonly availableBytes: number | undefined;
  readonly workingSetBytes: number | undefined;
}

/** A file system; what is not known is undefined. */
export interface FileSystemUse {
  readonly availableBytes: number | undefined;
  readonly capacityBytes: number | undefined;
  readonly inodesFree: number | undefined;
  readonly inodes: number | undefined;
}

/** The use of a cgroup. */
export interface NamedUse {
  readonly name: string;
  readonly cpuNanoCores: number | undefined;
  readonly memoryBytes: number | undefined;
}

/** The use of a pod and of its containers. */
export interface PodCgroupUse extends Omit<NamedUse, "name"> {
  readonly uid: string;
  readonly pids: number | undefined;
  readonly containers: readonly NamedUse[];
}

/** Pods are evicted when less than this is left: an amount, or a share of what there is. */
export interface UsageThreshold {
  readonly signal: string;
  readonly amount: number | undefined;
  readonly share: number | undefined;
  /** True: at once; false: after a grace period. */
  readonly isHard: boolean;
}
