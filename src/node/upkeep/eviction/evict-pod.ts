import type { Pod } from "../../../api/gen/types.ts";
import { isCriticalPod, podReference } from "../../../api/pods.ts";
import type { Log } from "../../../base/log.ts";
import type { Metrics } from "../../../base/metrics.ts";
import type { Timeline } from "../../../base/timeline.ts";
import type { StatusOverride, WorkerUpdate } from "../../pods/workers/pod-state.ts";

/** Why a pod must go, and how much time its containers get. */
interface Eviction {
  /** Counts it in `kubelet_evictions`. */
  readonly signal: string;
  readonly message: string;
  readonly gracePeriodSeconds: number;
  /** Of the event. */
  readonly annotations?: Readonly<Record<string, string>>;
  /** The node ends it for its own sake: what the condition DisruptionTarget says. Default: it was the pod's own doing. */
  readonly disruption?: string;
}

interface PodEvictorDeps {
  readonly workers: { update(update: WorkerUpdate): void };
  readonly timeline: Pick<Timeline, "record">;
  readonly metrics: Metrics;
  readonly log: Log;
}

/** Evicts pods; false for one that never is: upstream's `evictPod` (pkg/kubelet/eviction/eviction_manager.go). */
export type PodEvictor = (pod: Pod, eviction: Eviction) => boolean;

/** The pod fails at once, its containers are stopped, and its status stays until somebody deletes it. */
export function createPodEvictor({ workers, timeline, metrics, log }: PodEvictorDeps): PodEvictor {
  const evictions = metrics.counter("kubelet_evictions", "Cumulative number of pod evictions by eviction signal", [
    "eviction_signal",
  ]);
  return (pod, { signal, message, gracePeriodSeconds, annotations, disruption }) => {
    const reference = podReference(pod);
    const fields = { pod: `${reference.namespace}/${reference.name}`, uid: reference.uid, message };
    // Nobody would bring a static pod back.
    if (isCriticalPod(pod)) {
      log.error("Eviction manager: cannot evict a critical pod", fields);
      return false;
    }
    log.info("Evicting pod", fields);
    timeline.record(reference, { type: "Warning", reason: "Evicted", message, ...(annotations && { annotations }) });
    const statusOverride: StatusOverride = {
      phase: "Failed",
      reason: "Evicted",
      message,
      ...(disruption !== undefined && { disruption }),
    };
    const kill = { evicted: true, gracePeriodSeconds, statusOverride };
    workers.update({ type: "kill", subject: { kind: "pod", pod }, kill });
    evictions.add({ eviction_signal: signal });
    return true;
  };
}
