import type { CronJob } from "../../../api/gen/types.ts";
import { parseTime, SECOND } from "../../../base/clock.ts";
import type { ScheduleTimes } from "./schedule-times.ts";

/** What has become due since the cron job was last served. All times are milliseconds since the epoch. */
interface Due {
  /** The latest time that is due; undefined when none is. */
  readonly time: number | undefined;
  /** The time from which the schedule was followed. */
  readonly since: number;
  /** An estimate of how many times were due, by the distance of the first two. */
  readonly missed: number;
}

export interface DueOptions {
  readonly now: number;
  /** Nothing before this time is due: the schedule was another one then. */
  readonly notBefore: number;
}

/** More missed starts than this are told as a mistake: the clock was wrong, or nobody looked for long. */
export const MANY_MISSED = 100;
/** A timer that fires this much later finds the time due even if the clock is set a little back meanwhile. */
const PADDING_MS = 100;

/** Finds the latest time that is due and not too late. */
export function computeDue(cronJob: CronJob, times: ScheduleTimes, options: DueOptions): Due {
  const { startingDeadlineSeconds } = cronJob.spec ?? { schedule: "", jobTemplate: {} };
  const tooLate = startingDeadlineSeconds === undefined ? 0 : options.now - startingDeadlineSeconds * SECOND;
  return dueSince(Math.max(lastServed(cronJob), options.notBefore, tooLate), times, options.now);
}

/** How long until the next time that will be due; undefined for a schedule that never is. */
export function computeWaitMs(cronJob: CronJob, times: ScheduleTimes, options: DueOptions): number | undefined {
  const { now, notBefore } = options;
  const due = dueSince(Math.max(lastServed(cronJob), notBefore), times, now);
  const next = times.next(due.time ?? (due.missed === 0 ? due.since : now));
  return next === undefined ? undefined : Math.max(0, next + PADDING_MS - now);
}

function lastServed({ metadata, status }: CronJob): number {
  return parseTime(status?.lastScheduleTime) ?? parseTime(metadata?.creationTimestamp) ?? 0;
}

/**
 * Follows the schedule from its second last time only, which is found by the distance of the first two, because a wrong
 * clock may leave millions of times in between.
 */
function dueSince(since: number, times: ScheduleTimes, now: number): Due {
  const first = times.next(since);
  if (first === undefined || now < first) return { since, time: undefined, missed: 0 };
  const second = times.next(first);
  if (second === undefined || now < second) return { since, time: first, missed: 0 };
  const missed = Math.floor((now - first) / (second - first)) + 1;
  let time: number | undefined;
  for (
    let at = times.next(first + (missed - 2) * (second - first));
    at !== undefined && at <= now;
    at = times.next(at)
  ) {
    time = at;
  }
  return { since, time, missed };
}
