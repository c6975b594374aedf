/**
 * The writing side of cgroups: it makes them, limits what is used in them, and removes them. A cgroup is named by its
 * path, as in `Cgroups`. In version 1 each call concerns every hierarchy. Errors are the kernel's, with its codes:
 * `EROFS`, `EACCES` or `EPERM` where this process may not make cgroups at all.
 */
export interface CgroupTree {
  /**
   * Returns what is missing of the cgroup in the words of upstream, `has some missing paths: …`, or undefined when the
   * whole cgroup is there. It is quick, because it is called before each sync of a pod.
   */
  findLack(path: string): string | undefined;
  /**
   * Makes the cgroup with its parents, ready for containers. Parts that exist stay as they are. `limits` are those that
   * `limit` is called with next, for an adapter that can do both in one step; the caller must call `limit` in any case.
   */
  make(path: string, limits?: CgroupLimits): Promise<void>;
  /** Changes the limits that are given, and nothing else. After a failure some of them are in force. */
  limit(path: string, limits: CgroupLimits): Promise<void>;
  /** The names of the cgroups directly in this one, over all hierarchies. Empty where the cgroup does not exist. */
  children(path: string): string[];
  /** The processes in the cgroup and in all below it. */
  processes(path: string): number[];
  /**
   * Removes the cgroup with all below it; an absent cgroup is fine. Rejects with `EBUSY` while there are processes in
   * it. With `killing` the processes are killed (SIGKILL) and waited for, a second at most.
   */
  remove(path: string, options: { readonly killing: boolean }): Promise<void>;
}

/** The limits of a cgroup, in the units of version 1. An undefined limit stays as it is. */
export interface CgroupLimits {
  /** 2…262,144; 1,024 are one processor. */
  readonly cpuShares?: bigint | undefined;
  /** -1: no quota. */
  readonly cpuQuotaMicroseconds?: bigint | undefined;
  readonly cpuPeriodMicroseconds?: bigint | undefined;
  readonly memoryBytes?: bigint | undefined;
  /** Memory that is never taken back, in bytes; 0: none. Version 2 only. */
  readonly memoryMin?: bigint | undefined;
  /** Memory that is taken back only where nobody else has any, in bytes; 0: none. Version 2 only. */
  readonly memoryLow?: bigint | undefined;
  /** Processes and threads. */
  readonly maxTasks?: bigint | undefined;
  /** Bytes by the size of the pages, as cgroups name it: `2MB`. */
  readonly hugepages?: ReadonlyMap<string, bigint> | undefined;
}
