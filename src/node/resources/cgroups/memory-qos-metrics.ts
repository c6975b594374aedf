import type { Metrics } from "../../../base/metrics.ts";
import type { ClassRequests } from "../sizes/class-requests.ts";
import type { MemoryQos } from "../sizes/sizing-facts.ts";

/** Declares upstream's metrics of MemoryQoS; the result tells them what the pods of the classes ask for. */
export function createMemoryQosMetrics(
  metrics: Metrics,
  { isReserving }: Pick<MemoryQos, "isReserving">,
): (requests: ClassRequests) => void {
  const min = metrics.gauge(
    "kubelet_memory_qos_node_memory_min_bytes",
    "Memory in bytes that the kernel never takes back from Guaranteed pods (memory.min of cgroup v2)",
  );
  const low = metrics.gauge(
    "kubelet_memory_qos_node_memory_low_bytes",
    "Memory in bytes that the kernel takes back late from Burstable pods (memory.low of cgroup v2)",
  );
  const observe = ({ Guaranteed, Burstable }: ClassRequests) => {
    min.set(isReserving ? Number(Guaranteed.memoryBytes) : 0);
    low.set(isReserving ? Number(Burstable.memoryBytes) : 0);
  };
  return observe;
}
