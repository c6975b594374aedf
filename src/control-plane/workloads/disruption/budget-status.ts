import type { Condition, Pod, PodDisruptionBudgetStatus } from "../../../api/gen/types.ts";
import { isPodReady } from "../../../api/pods.ts";
import { formatTime, MINUTE, parseTime } from "../../../base/clock.ts";

/** A pod whose eviction was allowed, and that nobody has deleted after this time, is not going to be deleted. */
const DELETION_MS = 2 * MINUTE;

interface BudgetCount {
  /** The disrupted pods that are still to be deleted, with the time at which that was allowed. */
  readonly disruptedPods: Readonly<Record<string, string>>;
  /** The names of pods whose deletion was allowed, and that were not deleted in time. */
  readonly notDeleted: readonly string[];
  readonly healthy: number;
  /** After how many milliseconds the next disrupted pod is given up; undefined when there is none. */
  readonly nextCheckMs: number | undefined;
}

/** Counts the healthy pods of a budget. Those that are deleted, or are about to be, do not count. */
export function countBudget(pods: readonly Pod[], told: Readonly<Record<string, string>>, now: number): BudgetCount {
  const disruptedPods: Record<string, string> = {};
  const notDeleted: string[] = [];
  const waits: number[] = [];
  for (const { metadata } of pods) {
    const { name = "", deletionTimestamp } = metadata ?? {};
    const since = told[name];
    if (deletionTimestamp !== undefined || since === undefined) continue;
    const waitMs = (parseTime(since) ?? 0) + DELETION_MS - now;
    if (waitMs < 0) notDeleted.push(name);
    else {
      disruptedPods[name] = since;
      waits.push(waitMs);
    }
  }
  const healthy = pods.filter((pod) => {
    const { name = "", deletionTimestamp } = pod.metadata ?? {};
    return deletionTimestamp === undefined && disruptedPods[name] === undefined && isPodReady(pod);
  });
  // One millisecond more, and the time is over for certain.
  const nextCheckMs = waits.length === 0 ? undefined : Math.min(...waits) + 1;
  return { disruptedPods, notDeleted, healthy: healthy.length, nextCheckMs };
}

interface BudgetNumbers {
  readonly count: BudgetCount;
  readonly expected: number;
  readonly desired: number;
  readonly generation: number;
}

/** The status of a budget that was counted. A budget without pods allows nothing, so that its first pods are safe. */
export function computeBudgetStatus(
  before: PodDisruptionBudgetStatus,
  { count, expected, desired, generation }: BudgetNumbers,
  now: number,
): PodDisruptionBudgetStatus {
  const allowed = expected <= 0 ? 0 : Math.max(0, count.healthy - desired);
  const conditions = withAllowed(before.conditions ?? [], now, {
    status: allowed > 0 ? "True" : "False",
    reason: allowed > 0 ? "SufficientPods" : "InsufficientPods",
    message: "",
    observedGeneration: generation,
  });
  return {
    currentHealthy: count.healthy,
    desiredHealthy: desired,
    disruptionsAllowed: allowed,
    expectedPods: expected,
    ...(Object.keys(count.disruptedPods).length > 0 && { disruptedPods: { ...count.disruptedPods } }),
    observedGeneration: generation,
    conditions,
  };
}

/** The status of a budget that could not be counted: it allows nothing until it can be. */
export function failedBudgetStatus(
  before: PodDisruptionBudgetStatus,
  message: string,
  now: number,
): PodDisruptionBudgetStatus {
  const { observedGeneration = 0 } = before;
  const news = { status: "False", reason: "SyncFailed", message, observedGeneration };
  return { ...before, disruptionsAllowed: 0, conditions: withAllowed(before.conditions ?? [], now, news) };
}

function withAllowed(
  conditions: readonly Condition[],
  now: number,
  news: Pick<Condition, "status" | "reason" | "message" | "observedGeneration">,
): Condition[] {
  const type = "DisruptionAllowed";
  const before = conditions.find((condition) => condition.type === type);
  const { lastTransitionTime = formatTime(now) } = before?.status === news.status ? before : {};
  const next: Condition = { type, ...news, lastTransitionTime };
  return before === undefined
    ? [...conditions, next]
    : conditions.map((condition) => (condition.type === type ? next : condition));
}
