/**
 * The writing side of cgroups: to make them, to say what may be used in them, and to remove them. A cgroup is named by its
 * path, as `Cgroups` has it; in version 1 each call concerns every hierarchy. Errors are the kernel's, with its codes:
 * `EROFS`, `EACCES` or `EPERM` where this process may not make cgroups at all.
 */
export interface CgroupTree {
  /**
   * What is missing of the cgroup in the words of upstream, `has some missing paths: …`; undefined when it is there as a
   * whole. Quick: it is asked before each sync of a pod.
   */
  findLack(path: string): string | undefined;
  /**
   * Makes the cgroup with its parents, ready for containers. What is there stays as it is. `limits`: what `limit` will be
   * called with next, for whoever can do both in one; it is to be called in any case.
   */
  make(path: string, limits?: CgroupLimits): Promise<void>;
  /** Changes what the limits name, and nothing else. After a failure some of them are in force. */
  limit(path: string, limits: CgroupLimits): Promise<void>;
  /** The names of the cgroups directly in this one, of each hierarchy. Empty where it is not there. */
  children(path: string): string[];
  /** The processes in the cgroup and in all below it. */
  processes(path: string): number[];
  /**
   * Removes the cgroup with all below it; absent is fine. `EBUSY` while there are processes: with `killing` they are killed
   * (SIGKILL) and waited for, a second at most.
   */
  remove(path: string, options: { readonly killing: boolean }): Promise<void>;
}

/** What a cgroup may use, in the units of version 1. Undefined leaves it as it is. */
export interface CgroupLimits {
  /** 2…262,144; 1,024 are one processor. */
  readonly cpuShares?: bigint | undefined;
  /** -1: no quota. */
  readonly cpuQuotaMicroseconds?: bigint | undefined;
  readonly cpuPeriodMicroseconds?: bigint | undefined;
  readonly memoryBytes?: bigint | undefined;
  /** Processes and threads. */
  readonly maxTasks?: bigint | undefined;
  /** Bytes by the size of the pages, as cgroups name it: `2MB`. */
  readonly hugepages?: ReadonlyMap<string, bigint> | undefined;
}
