import type { Pod } from "../../../api/gen/types.ts";
import { computeBackOff, remainingDelay } from "../../../base/back-off.ts";
import { MINUTE, SECOND } from "../../../base/clock.ts";
import type { JobView } from "./examine-job.ts";
import { finishTimeOf, indexFailuresOf } from "./job-pods.ts";

/** The delay before a failed pod is replaced: after one failure, and at most. */
const DELAYS = { initialMs: 10 * SECOND, maxMs: 10 * MINUTE };

/** How many pods have failed since the last one that succeeded, and when the last of them did. */
export interface FailureStreak {
  readonly failures: number;
  /** Milliseconds since the epoch. */
  readonly lastFailureAt: number;
}

/** The streak with the pods that have ended since; undefined when the last pod that ended has succeeded. */
export function continueStreak(
  streak: FailureStreak | undefined,
  { newSucceeded, newFailed }: Pick<JobView, "newSucceeded" | "newFailed">,
): FailureStreak | undefined {
  const lastSuccess = Math.max(Number.NEGATIVE_INFINITY, ...newSucceeded.map(finishTimeOf));
  const later = newFailed.map(finishTimeOf).filter((time) => time > lastSuccess);
  const before = newSucceeded.length === 0 ? streak : undefined;
  if (later.length === 0) return before;
  return { failures: (before?.failures ?? 0) + later.length, lastFailureAt: Math.max(...later) };
}

/** How long the job waits before it creates another pod; 0 when it need not. */
export function remainingBackOffMs(streak: FailureStreak | undefined, now: number): number {
  if (streak === undefined) return 0;
  return remainingDelay(computeBackOff(streak.failures, DELAYS), streak.lastFailureAt, now);
}

/** How long an index waits for the successor of its failed pod. */
export function remainingIndexBackOffMs(lastFailed: Pod | undefined, now: number): number {
  if (lastFailed === undefined) return 0;
  const { counted, ignored } = indexFailuresOf(lastFailed);
  return remainingBackOffMs({ failures: counted + ignored + 1, lastFailureAt: finishTimeOf(lastFailed) }, now);
}
