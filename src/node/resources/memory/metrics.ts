import type { Metrics } from "../../../base/metrics.ts";

/** Counts memory that is given to containers. */
export interface MemoryMetrics {
  countRequest(): void;
  countError(): void;
}

/** Declares upstream's series of the memory manager. */
export function declareMemoryMetrics(metrics: Metrics): MemoryMetrics {
  const requests = metrics.counter(
    "kubelet_memory_manager_pinning_requests_total",
    "The number of memory pages allocations which required pinning.",
  );
  const errors = metrics.counter(
    "kubelet_memory_manager_pinning_errors_total",
    "The number of memory pages allocations which required pinning that failed.",
  );
  return { countRequest: () => requests.add(), countError: () => errors.add() };
}
