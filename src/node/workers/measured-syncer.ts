import type { Clock } from "../../base/clock.ts";
import type { Metrics } from "../../base/metrics.ts";
import type { PodSyncer } from "./pod-syncer.ts";

/** The same syncer, with `kubelet_pod_worker_duration_seconds` observed for each work, failed ones included. */
export function measureSyncer(syncer: PodSyncer, deps: { clock: Clock; metrics: Metrics }): PodSyncer {
  const series = deps.metrics.histogram(
    "kubelet_pod_worker_duration_seconds",
    "Duration in seconds to sync a single pod, by kind of work.",
    { labels: ["operation_type"] },
  );
  const measured = async <T>(operation_type: string, work: () => Promise<T>): Promise<T> => {
    const begun = deps.clock.monotonic();
    try {
      return await work();
    } finally {
      series.observe((deps.clock.monotonic() - begun) / 1000, { operation_type });
    }
  };
  return {
    syncPod: async (work) => await measured("sync", async () => await syncer.syncPod(work)),
    reportPod: syncer.reportPod,
    syncTerminatingPod: async (work) =>
      await measured("terminating", async () => await syncer.syncTerminatingPod(work)),
    syncTerminatedPod: async (work) => await measured("terminated", async () => await syncer.syncTerminatedPod(work)),
  };
}
