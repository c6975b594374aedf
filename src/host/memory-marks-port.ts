/** An amount of memory in use by a cgroup, in bytes, of which the kernel tells when it is crossed. */
export interface MemoryMark {
  readonly path: string;
  readonly bytes: bigint;
}

/**
 * Notifications of the kernel about memory in use. Only version 1 of cgroups has them. The real adapter and the fake
 * pass one contract suite (`test/contract/host-memory-marks.test.ts`).
 */
export interface MemoryMarks {
  /**
   * Replaces the marks. It is meant to be called each few seconds at most; new marks may be a quarter of a second late.
   * Throws with the kernel's code, `ENOENT` where a cgroup is absent; the marks of before are in force then.
   */
  set(marks: readonly MemoryMark[]): void;
  /**
   * Calls `onCrossed` each time that a mark was crossed in either direction; what happens meanwhile is told once. It may
   * be called once. Resolves when the signal has fired and the marks are gone. Rejects with `follow-failed`.
   */
  follow(onCrossed: () => void, signal: AbortSignal): Promise<void>;
}
