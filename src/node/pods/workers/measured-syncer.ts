import type { Pod } from "../../../api/gen/types.ts";
import { CONFIG_SEEN_ANNOTATION } from "../../../api/well-known.ts";
import { type Clock, parseTime, SECOND } from "../../../base/clock.ts";
import type { Metrics } from "../../../base/metrics.ts";
import type { PodSyncer } from "./pod-syncer.ts";

/**
 * The same syncer, which observes each work in `kubelet_pod_worker_duration_seconds`, failed ones included, and the
 * first work of a pod in upstream's metrics of starts. The operation type of a work is the type of the update that it
 * follows from, as upstream's is; only the last work of a pod is called `terminated`.
 */
export function measureSyncer(syncer: PodSyncer, { clock, metrics }: { clock: Clock; metrics: Metrics }): PodSyncer {
  const duration = metrics.histogram(
    "kubelet_pod_worker_duration_seconds",
    "Duration in seconds to sync a single pod. Broken down by operation type: create, update, or sync",
    { labels: ["operation_type"] },
  );
  const observeStart = createStartObserver(clock, metrics);
  const measured = async <T>(operation_type: string, work: () => Promise<T>): Promise<T> => {
    const begun = clock.monotonic();
    try {
      return await work();
    } finally {
      duration.observe((clock.monotonic() - begun) / SECOND, { operation_type });
    }
  };
  return {
    async syncPod(work) {
      if (work.updateType === "create") observeStart(work.pod);
      return await measured(work.updateType ?? "sync", async () => await syncer.syncPod(work));
    },
    reportPod: syncer.reportPod,
    syncTerminatingPod: async (work) =>
      await measured(work.updateType ?? "sync", async () => await syncer.syncTerminatingPod(work)),
    syncTerminatedPod: async (work) => await measured("terminated", async () => await syncer.syncTerminatedPod(work)),
  };
}

/** A pod may have more containers than the largest bucket. */
const CONTAINER_BUCKETS = [1, 2, 4, 8, 16];

function createStartObserver(clock: Pick<Clock, "now">, metrics: Metrics): (pod: Pod) => void {
  const workerStart = metrics.histogram(
    "kubelet_pod_worker_start_duration_seconds",
    "Duration in seconds from kubelet seeing a pod to starting a worker.",
  );
  const containers = metrics.histogram("kubelet_containers_per_pod_count", "The number of containers per pod.", {
    buckets: CONTAINER_BUCKETS,
  });
  return ({ metadata, spec }) => {
    const seenAt = parseTime(metadata?.annotations?.[CONFIG_SEEN_ANNOTATION]);
    if (seenAt !== undefined) workerStart.observe((clock.now() - seenAt) / SECOND);
    containers.observe(spec?.containers.length ?? 0);
  };
}
