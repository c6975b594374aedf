import { podReference, podUid } from "../../../api/pods.ts";
import { type Clock, SECOND } from "../../../base/clock.ts";
import type { Log } from "../../../base/log.ts";
import type { Metrics } from "../../../base/metrics.ts";
import { endsInTime } from "../../../base/time-limit.ts";
import type { Cause, Timeline } from "../../../base/timeline.ts";
import type { PodEvictor } from "./evict-pod.ts";
import { composePressureCauses } from "./eviction-causes.ts";
import type { EvictionNeed, EvictionPlan } from "./plan-pressure-eviction.ts";

export interface VictimEvictionDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly timeline: Pick<Timeline, "record">;
  readonly evict: PodEvictor;
  readonly workers: { untilFinished(uids: readonly string[], signal: AbortSignal): Promise<void> };
}

interface ChosenVictim {
  readonly plan: EvictionPlan;
  readonly need: EvictionNeed;
  /** Since when the threshold is met, in milliseconds of `Clock.monotonic`; undefined where that is not known. */
  readonly metSince: number | undefined;
}

/** The next eviction waits at most this long for the evicted pod to end, as upstream's `podCleanupTimeout`. */
const CLEANUP_TIMEOUT_MS = 30 * SECOND;

/**
 * Evicts the pod that was chosen, records why, and waits for its end, but not for ever. The result is false where the pod
 * ends already.
 */
export function createVictimEviction(deps: VictimEvictionDeps) {
  const { clock, log } = deps;
  const statsAge = deps.metrics.histogram(
    "kubelet_eviction_stats_age_seconds",
    "Time between when stats are collected, and when pod is evicted based on those stats by eviction signal",
    { labels: ["eviction_signal"] },
  );

  return async ({ plan, need, metSince }: ChosenVictim, signal: AbortSignal): Promise<boolean> => {
    const { victim, message, annotations, gracePeriodSeconds, explanation, spared } = plan;
    const { threshold, due, observations } = need;
    const reference = podReference(victim);
    for (const pod of spared) {
      log.info("Eviction manager: cannot evict a critical pod", { pod: podReference(pod) });
    }
    for (const { signal: name } of due) {
      const at = observations.get(name)?.at;
      if (at !== undefined) statsAge.observe((clock.monotonic() - at) / SECOND, { eviction_signal: name });
    }
    const rank: Cause = { reason: "EvictionRank", message: explanation, at: clock.now() };
    const causes = composePressureCauses({ threshold, metSince, observed: observations.get(threshold.signal) }, clock);
    deps.timeline.record(reference, { type: "Warning", reason: rank.reason, message: rank.message, causes });
    const words = { message, annotations, disruption: message, causes: [rank, ...causes] };
    if (!deps.evict(victim, { signal: threshold.signal, gracePeriodSeconds, ...words })) return false;
    const limit = { timeoutMs: CLEANUP_TIMEOUT_MS, signal };
    const hasEnded = await endsInTime(clock, limit, async (inner) => {
      await deps.workers.untilFinished([podUid(victim)], inner);
    });
    if (!hasEnded) log.warn("Eviction manager: timed out waiting for pods to be cleaned up", { pod: reference });
    return true;
  };
}
