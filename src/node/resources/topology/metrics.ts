import type { Clock } from "../../../base/clock.ts";
import type { Metrics } from "../../../base/metrics.ts";

/** Counts what becomes of pods whose resources are to be aligned. */
export interface TopologyMetrics {
  /** Times the allocation of a pod. */
  measure<T>(allocate: () => Promise<T>): Promise<T>;
  countError(): void;
  /** All that a container or a pod has is within such a boundary, or could not be. */
  countAlignment(alignment: Alignment, isAligned: boolean): void;
}

interface Alignment {
  readonly scope: "container" | "pod";
  /** Cores are within that of `physical_cpu` where no other container has a part of them. */
  readonly boundary: "numa_node" | "physical_cpu" | "uncore_cache";
}

const DURATION_BUCKETS_MS = Array.from({ length: 15 }, (_, power) => 0.05 * 2 ** power);

/** Declares upstream's series of the topology manager. */
export function declareTopologyMetrics(metrics: Metrics, clock: Pick<Clock, "monotonic">): TopologyMetrics {
  const requests = metrics.counter(
    "kubelet_topology_manager_admission_requests_total",
    "The number of admission requests where resources have to be aligned.",
  );
  const errors = metrics.counter(
    "kubelet_topology_manager_admission_errors_total",
    "The number of admission request failures where resources could not be aligned.",
  );
  const durations = metrics.histogram(
    "kubelet_topology_manager_admission_duration_ms",
    "Duration in milliseconds to serve a pod admission request.",
    { buckets: DURATION_BUCKETS_MS },
  );
  const aligned = metrics.counter(
    "kubelet_container_aligned_compute_resources_count",
    "Cumulative number of aligned compute resources allocated to containers by alignment type.",
    ["scope", "boundary"],
  );
  const unaligned = metrics.counter(
    "kubelet_container_aligned_compute_resources_failure_count",
    "Cumulative number of failures to allocate aligned compute resources to containers by alignment type.",
    ["scope", "boundary"],
  );
  return {
    async measure(allocate) {
      requests.add();
      const startedAt = clock.monotonic();
      try {
        return await allocate();
      } finally {
        durations.observe(clock.monotonic() - startedAt);
      }
    },
    countError: () => errors.add(),
    countAlignment: ({ scope, boundary }, isAligned) => (isAligned ? aligned : unaligned).add({ scope, boundary }),
  };
}
