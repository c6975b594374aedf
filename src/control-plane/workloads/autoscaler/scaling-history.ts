import type { HPAScalingRules } from "../../../api/gen/types.ts";
import { SECOND } from "../../../base/clock.ts";

/** Something that was said or done at a time, in milliseconds of a clock that nobody sets. */
interface Dated {
  readonly at: number;
}

interface Recommendation extends Dated {
  readonly replicas: number;
}

interface ScaleChange extends Dated {
  /** By how many replicas, at least 1. */
  readonly by: number;
}

/** What is remembered of an autoscaler; a new process remembers nothing. */
export interface ScalingHistory {
  /** What metrics asked for, before anything held it back. */
  readonly recommendations: readonly Recommendation[];
  readonly ups: readonly ScaleChange[];
  readonly downs: readonly ScaleChange[];
}

/**
 * More than a look each second makes in the longest window, an hour. Only an author who changes the autoscaler all the
 * time has more; then the oldest are forgotten.
 */
const MAX_KEPT = 4_096;

/** The history of an autoscaler that is seen for the first time: what there is holds for a recommendation. */
export function beginHistory(replicas: number, now: number): ScalingHistory {
  return { recommendations: [{ replicas, at: now }], ups: [], downs: [] };
}

/** The history with one more recommendation, without those older than `keptMs`. */
export function withRecommendation(
  history: ScalingHistory,
  recommendation: Recommendation,
  keptMs: number,
): ScalingHistory {
  return { ...history, recommendations: append(history.recommendations, recommendation, keptMs) };
}

/** The history with a change of scale. Changes are forgotten when no policy of the rules looks back so far. */
export function withScaleChange(
  history: ScalingHistory,
  change: { readonly from: number; readonly to: number; readonly at: number },
  rules: { readonly up: HPAScalingRules; readonly down: HPAScalingRules },
): ScalingHistory {
  const { from, to, at } = change;
  if (to > from) return { ...history, ups: append(history.ups, { by: to - from, at }, longestPeriodMs(rules.up)) };
  return { ...history, downs: append(history.downs, { by: from - to, at }, longestPeriodMs(rules.down)) };
}

/** By how many replicas all changes after the time changed the scale. */
export function sumChanges(changes: readonly ScaleChange[], after: number): number {
  return changes.filter(({ at }) => at > after).reduce((sum, { by }) => sum + by, 0);
}

function longestPeriodMs({ policies = [] }: HPAScalingRules): number {
  return Math.max(0, ...policies.map(({ periodSeconds }) => periodSeconds)) * SECOND;
}

function append<T extends Dated>(entries: readonly T[], entry: T, keptMs: number): readonly T[] {
  return [...entries.filter(({ at }) => at >= entry.at - keptMs), entry].slice(-MAX_KEPT);
}
