import type { Pod } from "../../../api/gen/types.ts";
import { isCriticalPod, podReference } from "../../../api/pods.ts";
import type { Log } from "../../../base/log.ts";
import type { Metrics } from "../../../base/metrics.ts";
import type { Cause, Timeline } from "../../../base/timeline.ts";
import type { StatusOverride, WorkerUpdate } from "../../pods/workers/pod-state.ts";

/** The reason why a pod is evicted, and the time that its containers get. */
interface Eviction {
  /** The label under which `kubelet_evictions` counts the eviction. */
  readonly signal: string;
  readonly message: string;
  readonly gracePeriodSeconds: number;
  /** The annotations of the event. */
  readonly annotations?: Readonly<Record<string, string>>;
  /** What led to the eviction, the nearest first. */
  readonly causes?: readonly Cause[];
  /**
   * The message of the condition DisruptionTarget, for a pod that the node ends for the node's own sake. By default the
   * condition is absent, because the pod itself caused the eviction.
   */
  readonly disruption?: string;
}

interface PodEvictorDeps {
  readonly workers: { update(update: WorkerUpdate): void };
  readonly timeline: Pick<Timeline, "record">;
  readonly metrics: Metrics;
  readonly log: Log;
}

/**
 * Evicts a pod. Returns false for a pod that is never evicted. Follows upstream's `evictPod`
 * (pkg/kubelet/eviction/eviction_manager.go).
 */
export type PodEvictor = (pod: Pod, eviction: Eviction) => boolean;

/**
 * Creates an evictor. An evicted pod fails at once, its containers are stopped, and its status stays until the pod is
 * deleted.
 */
export function createPodEvictor({ workers, timeline, metrics, log }: PodEvictorDeps): PodEvictor {
  const evictions = metrics.counter("kubelet_evictions", "Cumulative number of pod evictions by eviction signal", [
    "eviction_signal",
  ]);
  return (pod, { signal, message, gracePeriodSeconds, annotations, disruption, causes }) => {
    const reference = podReference(pod);
    const fields = { pod: `${reference.namespace}/${reference.name}`, uid: reference.uid, message };
    // A static pod is critical too, because nothing would start it again.
    if (isCriticalPod(pod)) {
      log.error("Eviction manager: cannot evict a critical pod", fields);
      return false;
    }
    log.info("Evicting pod", fields);
    const more = { ...(annotations && { annotations }), ...(causes && { causes }) };
    timeline.record(reference, { type: "Warning", reason: "Evicted", message, ...more });
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
