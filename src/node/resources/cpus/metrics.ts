import type { Metrics } from "../../../base/metrics.ts";

/** Counts CPUs that are given to containers. */
export interface CpuMetrics {
  countRequest(): void;
  countError(): void;
}

interface CpuPools {
  /** The number of CPUs that are free to be given away. */
  readonly free: number;
  /** The CPUs that containers have for themselves, by NUMA node. */
  readonly exclusiveByNode: ReadonlyMap<number, number>;
}

/** Declares upstream's series of the CPU manager; `readPools` is undefined where it gives nothing. */
export function declareCpuMetrics(metrics: Metrics, readPools: (() => CpuPools) | undefined): CpuMetrics {
  const requests = metrics.counter(
    "kubelet_cpu_manager_pinning_requests_total",
    "The number of cpu core allocations which required pinning.",
  );
  const errors = metrics.counter(
    "kubelet_cpu_manager_pinning_errors_total",
    "The number of cpu core allocations which required pinning failed.",
  );
  const shared = metrics.gauge(
    "kubelet_cpu_manager_shared_pool_size_millicores",
    "The size of the shared CPU pool for non-guaranteed QoS pods, in millicores.",
  );
  const exclusive = metrics.gauge(
    "kubelet_cpu_manager_exclusive_cpu_allocation_count",
    "The total number of CPUs exclusively allocated to containers running on this node",
  );
  const byNode = metrics.gauge("kubelet_cpu_manager_allocation_per_numa", "Number of CPUs allocated per NUMA node", [
    "numa_node",
  ]);
  if (readPools !== undefined) {
    metrics.beforeRender(() => {
      const { free, exclusiveByNode } = readPools();
      shared.set(free * 1_000);
      exclusive.set([...exclusiveByNode.values()].reduce((sum, count) => sum + count, 0));
      for (const [node, count] of exclusiveByNode) byNode.set(count, { numa_node: String(node) });
    });
  }
  return { countRequest: () => requests.add(), countError: () => errors.add() };
}
