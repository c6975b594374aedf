/** Turns the counters of a pod's containers into one counter of processor time that never decreases. */
interface PodCpuTotals {
  /** `counters` holds the nanoseconds of the containers that run now, by container id. */
  observe(podUid: string, counters: ReadonlyMap<string, number>): number;
  /** Drops all pods but these. */
  retain(podUids: ReadonlySet<string>): void;
}

interface Total {
  /** The sum of the last readings of the containers that are gone, in nanoseconds. */
  readonly gone: number;
  readonly counters: ReadonlyMap<string, number>;
}

/**
 * Upstream reads this counter from the pod's cgroup, which keeps counting when a container ends. Here the time that an
 * ended container used after its last reading is not counted, because this node makes no cgroups for pods.
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
