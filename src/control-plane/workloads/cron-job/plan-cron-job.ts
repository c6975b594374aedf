import type { CronJob, CronJobStatus, Job, ObjectReference } from "../../../api/gen/types.ts";
import { formatTime, MINUTE, parseTime, SECOND } from "../../../base/clock.ts";
import { finishedConditionOf } from "../job/job-pods.ts";
import { computeDue, computeWaitMs, type DueOptions, MANY_MISSED } from "./due-time.ts";
import { type ScheduleTimes, scheduleTimesOf } from "./schedule-times.ts";
import { createZoneClock } from "./zone-clock.ts";

/** Tells of a job of a cron job for which time it was made. Jobs that somebody makes of a cron job by hand have none. */
export const SCHEDULED_ANNOTATION = "batch.kubernetes.io/cronjob-scheduled-timestamp";

/** A clock that is set back by less than this is waited for, so that nothing is started twice for one time. */
const MOST_SKEW_MS = 5 * MINUTE;

/** What to do for a cron job, in this order. */
interface CronJobPlan {
  readonly news: readonly CronJobNews[];
  /** Jobs that ended and are more than the history keeps. */
  readonly forget: readonly Job[];
  /** The status without regard to what is to be started. */
  readonly status: CronJobStatus;
  readonly start: JobStart | undefined;
  /** When to look again; undefined where nothing will be due. */
  readonly waitMs: number | undefined;
}

/** A job to be made. */
export interface JobStart {
  readonly name: string;
  /** When it was due, in milliseconds since the epoch. */
  readonly dueAt: number;
  /** The same in the zone of the cron job. */
  readonly dueText: string;
  /** The running jobs that it takes the place of. */
  readonly replaces: readonly ObjectReference[];
}

interface CronJobNews {
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  readonly message: string;
}

type CronJobPart = Pick<CronJobPlan, "start" | "waitMs"> & { news?: CronJobNews };

/** Plans by the cron job, and by the jobs that it controls. */
export function planCronJob(cronJob: CronJob, jobs: readonly Job[], options: DueOptions): CronJobPlan {
  const { now } = options;
  const { status, news } = computeStatus(cronJob, jobs, now);
  const forget = chooseForgotten(cronJob, jobs);
  const notBefore = isAhead(options.notBefore, now) ? 0 : options.notBefore;
  const planned = planStart({ ...cronJob, status }, { now, notBefore });
  return {
    news: [...news, ...(planned.news ? [planned.news] : [])],
    forget,
    status,
    start: planned.start,
    waitMs: planned.waitMs,
  };
}

/**
 * Takes jobs that ended, or are gone, from the list of those that run. A job that was made just before a crash is in no list
 * yet. It counts like every other, so that no second one runs beside it and none is made again for its time: upstream only
 * warns of it.
 */
function computeStatus({ metadata, status = {} }: CronJob, jobs: readonly Job[], now: number) {
  const news: CronJobNews[] = [];
  const tell = (type: CronJobNews["type"], reason: string, message: string) => news.push({ type, reason, message });
  const byUid = new Map(jobs.map((job) => [job.metadata?.uid, job]));
  const listed = new Set((status.active ?? []).map(({ uid }) => uid));
  const forgotten: ObjectReference[] = [];
  for (const job of jobs) {
    const { name, uid = "", deletionTimestamp } = job.metadata ?? {};
    if (listed.has(uid) || finishedConditionOf(job) !== undefined) continue;
    if (scheduledTimeOf(job) === undefined)
      tell("Warning", "UnexpectedJob", `Saw a job that the controller did not create or forgot: ${name}`);
    else if (deletionTimestamp === undefined) forgotten.push(referenceToJob(job));
  }
  const listedActive = (status.active ?? []).filter(({ uid, name }) => {
    const job = byUid.get(uid);
    if (job === undefined) tell("Normal", "MissingJob", `Active job went missing: ${name}`);
    const condition = job && finishedConditionOf(job);
    if (condition) tell("Normal", "SawCompletedJob", `Saw completed job: ${name}, condition: ${condition.type}`);
    return job !== undefined && condition === undefined;
  });
  const active = [...listedActive, ...forgotten];
  const told = [parseTime(status.lastScheduleTime), ...jobs.map(scheduledTimeOf)].filter((time) => time !== undefined);
  const created = parseTime(metadata?.creationTimestamp) ?? 0;
  const wasAhead = told.some((time) => isAhead(time, now)) || (told.length === 0 && isAhead(created, now));
  const known = told.filter((time) => !isAhead(time, now));
  const scheduled = wasAhead && known.length === 0 ? [now] : known;
  const successes = jobs.flatMap((job) => job.status?.completionTime ?? []);
  const lastSuccess = [...successes, ...(status.lastSuccessfulTime ? [status.lastSuccessfulTime] : [])].sort().at(-1);
  const next: CronJobStatus = {
    ...(active.length > 0 && { active }),
    ...(scheduled.length > 0 && { lastScheduleTime: formatTime(Math.max(...scheduled)) }),
    ...(lastSuccess && { lastSuccessfulTime: lastSuccess }),
  };
  return { status: next, news };
}

/**
 * The clock was ahead when that was written, and was set right: a machine without a battery begins with any time, and a time
 * server may be wrong. Upstream starts nothing until that time has come.
 */
function isAhead(time: number, now: number): boolean {
  return time > now + MOST_SKEW_MS;
}

function scheduledTimeOf({ metadata }: Job): number | undefined {
  return parseTime(metadata?.annotations?.[SCHEDULED_ANNOTATION]);
}

function referenceToJob({ metadata = {} }: Job): ObjectReference {
  const { namespace = "", name = "", uid = "", resourceVersion = "" } = metadata;
  return { apiVersion: "batch/v1", kind: "Job", namespace, name, uid, resourceVersion };
}

/** The oldest of the jobs that succeeded, and of those that failed, beyond the limit of each. */
function chooseForgotten({ spec }: CronJob, jobs: readonly Job[]): readonly Job[] {
  const limits = { Complete: spec?.successfulJobsHistoryLimit, Failed: spec?.failedJobsHistoryLimit };
  const oldest = jobs.toSorted((a, b) => compareAges(a, b));
  return Object.entries(limits).flatMap(([type, limit]) => {
    const ended = oldest.filter((job) => {
      return finishedConditionOf(job)?.type === type && job.metadata?.deletionTimestamp === undefined;
    });
    return limit === undefined ? [] : ended.slice(0, Math.max(0, ended.length - limit));
  });
}

/** By the time at which they started; those that never did come last. */
function compareAges(a: Job, b: Job): number {
  const [left, right] = [a, b].map(({ status }) => parseTime(status?.startTime) ?? Number.MAX_VALUE);
  const [nameOfA = "", nameOfB = ""] = [a.metadata?.name, b.metadata?.name];
  return (left ?? 0) - (right ?? 0) || (nameOfA < nameOfB ? -1 : 1);
}

function planStart(cronJob: CronJob, options: DueOptions): CronJobPart {
  const { metadata = {}, spec } = cronJob;
  const nothing = { start: undefined, waitMs: undefined };
  if (spec === undefined || metadata.deletionTimestamp !== undefined) return nothing;
  const zone = createZoneClock(spec.timeZone ?? "UTC");
  if (zone === undefined) {
    const message = `invalid timeZone: ${JSON.stringify(spec.timeZone)}: unknown time zone ${spec.timeZone}`;
    return { ...nothing, news: { type: "Warning", reason: "UnknownTimeZone", message } };
  }
  if (spec.suspend) return nothing;
  const times = scheduleTimesOf(spec.schedule, zone);
  if (times === undefined) {
    const message = `unparseable schedule: ${JSON.stringify(spec.schedule)}`;
    return { ...nothing, news: { type: "Warning", reason: "UnparseableSchedule", message } };
  }
  const { time, missed } = computeDue(cronJob, times, options);
  if (time === undefined) return { start: undefined, waitMs: computeWaitMs(cronJob, times, options) };
  const start = { name: `${metadata.name}-${Math.floor(time / 60_000)}`, dueAt: time, dueText: zone.format(time) };
  return startDue(cronJob, { times, options, start, missed });
}

interface DueStart {
  times: ScheduleTimes;
  options: DueOptions;
  start: Omit<JobStart, "replaces">;
  missed: number;
}

/** Starts what is due, unless it is too late, started already or not allowed beside what runs. */
function startDue(cronJob: CronJob, { times, options, start, missed }: DueStart): CronJobPart {
  const { spec, status = {} } = cronJob;
  const { active = [] } = status;
  const waitMs = computeWaitMs(cronJob, times, options);
  const skipped = { start: undefined, waitMs };
  const deadline = spec?.startingDeadlineSeconds;
  if (deadline !== undefined && start.dueAt + deadline * SECOND < options.now) {
    const message = `Missed scheduled time to start a job: ${formatTimeOfMail(start.dueAt)}`;
    return { ...skipped, news: { type: "Warning", reason: "MissSchedule", message } };
  }
  const isStarted = active.some(({ name }) => name === start.name);
  if (isStarted || parseTime(status.lastScheduleTime) === start.dueAt) return skipped;
  if (spec?.concurrencyPolicy === "Forbid" && active.length > 0) {
    const message = "Not starting job because prior execution is running and concurrency policy is Forbid";
    return { ...skipped, news: { type: "Normal", reason: "JobAlreadyActive", message } };
  }
  const message = "too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew";
  return {
    start: { ...start, replaces: spec?.concurrencyPolicy === "Replace" ? active : [] },
    waitMs,
    ...(missed > MANY_MISSED && { news: { type: "Warning", reason: "TooManyMissedTimes", message } }),
  };
}

/** RFC 1123 with a numeric zone, as upstream tells it: `Thu, 01 Jan 2026 00:05:00 +0000`. */
function formatTimeOfMail(time: number): string {
  return new Date(time).toUTCString().replace("GMT", "+0000");
}

/** The status after the start of a job. */
export function withStarted(
  status: CronJobStatus,
  reference: ObjectReference,
  { dueAt, replaces }: JobStart,
): CronJobStatus {
  const replaced = new Set(replaces.map(({ uid }) => uid));
  const others = (status.active ?? []).filter(({ uid }) => !replaced.has(uid));
  return { ...status, active: [...others, reference], lastScheduleTime: formatTime(dueAt) };
}
