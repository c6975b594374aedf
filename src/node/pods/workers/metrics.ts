import { isStaticPod } from "../../../api/pods.ts";
import type { Metrics } from "../../../base/metrics.ts";
import type { PodState } from "./pod-state.ts";

/** Upstream's series of the unusual ways in which pods come to a worker (pkg/kubelet/kubelet_pods.go). */
export interface WorkerMetrics {
  /** The pod is known to the runtime only. */
  countOrphan(): void;
  /** The pod has gone; if it was added again meanwhile, under the same UID, it begins anew. */
  countGone(last: PodState): void;
}

export function createWorkerMetrics(metrics: Metrics): WorkerMetrics {
  const orphans = metrics.counter(
    "kubelet_orphaned_runtime_pods_total",
    "Number of pods that have been detected in the container runtime without being already known to the pod worker. " +
      "This typically indicates the kubelet was restarted while a pod was force deleted in the API or in the local " +
      "configuration, which is unusual.",
  );
  const restarted = metrics.counter(
    "kubelet_restarted_pods_total",
    "Number of pods that have been restarted because they were deleted and recreated with the same UID while the " +
      "kubelet was watching them (common for static pods, extremely uncommon for API pods)",
    ["static"],
  );
  // Both series are shown from the start, as upstream shows them, so that a rate has a first value.
  for (const label of ["true", ""]) restarted.add({ static: label }, 0);
  return {
    countOrphan: () => orphans.add(),
    countGone({ restartRequested, subject }) {
      if (!restartRequested || subject.kind !== "pod") return;
      restarted.add({ static: isStaticPod(subject.pod) ? "true" : "" });
    },
  };
}
