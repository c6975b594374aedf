/** What a pod has used of processors, by the counters of its containers, as one counter that does not go back. */
interface PodCpuTotals {
  /** `counters`: nanoseconds, by container id, of those that run now. */
  observe(podUid: string, counters: ReadonlyMap<string, number>): number;
  /** Drops all other pods. */
  retain(podUids: ReadonlySet<string>): void;
}

interface Total {
  /** Of containers that are gone, as they were read last. */
  readonly gone: number;
  readonly counters: ReadonlyMap<string, number>;
}

/**
 * Upstream reads it from the pod's cgroup, which counts on when a container ends. This node makes no cgroups of pods: what
 * an ended container used since the last reading is not counted.
 */
export function createPodCpuTotals(): PodCpuTotals {
  const totals = new Map<string, Total>();
  return {
    observe(podUid, counters) {
      const known = totals.get(podUid);
      const ended = [...(known?.counters ?? [])].filter(([id]) => !counters.has(id));
      const gone = (known?.gone ?? 0) + sum(ended);
      totals.set(podUid, { gone, counters });
      return gone + sum(counters);
    },
    retain(podUids) {
      for (const podUid of totals.keys()) if (!podUids.has(podUid)) totals.delete(podUid);
    },
  };
}

function sum(counters: Iterable<readonly [string, number]>): number {
  let total = 0;
  for (const [, nanoseconds] of counters) total += nanoseconds;
  return total;
}
