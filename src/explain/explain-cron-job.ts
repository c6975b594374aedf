import { checkCronSchedule } from "../api/cron/cron-schedule.ts";
import type { CronJob, Event, Job } from "../api/gen/types.ts";
import { parseTime } from "../base/clock.ts";
import { explainJob } from "./explain-job.ts";
import { nameFew, newestEvent, type ObjectExplanation, reasonFor } from "./explain-object.ts";
import type { Reason } from "./explanation.ts";

interface CronJobFacts {
  readonly cronJob: CronJob;
  /** All jobs of its namespace. */
  readonly jobs: readonly Job[];
  /** Its own events. */
  readonly events: readonly Event[];
}

interface CronJobContext {
  readonly namespace: string;
  readonly name: string;
  readonly active: readonly string[];
}

/** The controller looks at a cron job at most this many seconds late. */
const LATEST_LOOK_SECONDS = 10;

/** Says why a cron job starts nothing, or what became of what it started. Pure. */
export function explainCronJob(facts: CronJobFacts): ObjectExplanation {
  const { metadata, spec, status = {} } = facts.cronJob;
  const { namespace = "", name = "" } = metadata ?? {};
  const active = (status.active ?? []).flatMap((job) => job.name ?? []);
  const runs = active.length === 0 ? "runs nothing now" : `runs ${nameFew(active)}`;
  const last =
    status.lastScheduleTime === undefined ? "was never scheduled" : `was last scheduled at ${status.lastScheduleTime}`;
  return {
    ...{ kind: "ObjectExplanation", version: 1, object: { kind: "CronJob", namespace, name } },
    state: `${spec?.suspend === true ? "is suspended" : runs}, and ${last}`,
    waits: findCronWaits(facts, { namespace, name, active }),
    ends: findLastFailure(facts, namespace),
  };
}

function findCronWaits({ cronJob, events }: CronJobFacts, of: CronJobContext): Reason[] {
  const { namespace, name } = of;
  const { spec, status = {} } = cronJob;
  if (spec?.suspend === true) {
    const mend = `Let it go on: kubectl patch cronjob ${name} -n ${namespace} -p '{"spec":{"suspend":false}}'.`;
    return [{ reason: "Suspended", message: "It is suspended (spec.suspend).", mend }];
  }
  const unreadable = whyNeverDue(cronJob);
  if (unreadable.length > 0) return unreadable;
  const refused = newestEvent(events, { of: ["FailedCreate"], unless: ["SuccessfulCreate"] });
  const missed = newestEvent(events, { of: ["MissSchedule", "TooManyMissedTimes"], unless: ["SuccessfulCreate"] });
  const reasons = [
    ...(refused === undefined
      ? []
      : [reasonFor(namespace, { ...refused, message: `Its job cannot be made: ${refused.message}` })]),
    ...(missed === undefined ? [] : [explainMissed(missed, spec?.startingDeadlineSeconds)]),
    ...findOverlap(cronJob, events, of),
  ];
  if (reasons.length > 0 || status.lastScheduleTime !== undefined) return reasons;
  const message = `No time of its schedule (${spec?.schedule} in ${spec?.timeZone ?? "UTC"}) has come since it was made.`;
  const mend = `Start one now: kubectl create job --from=cronjob/${name} ${name}-now -n ${namespace}.`;
  return [{ reason: "NeverScheduled", message, mend }];
}

/** What keeps it from ever being due. */
function whyNeverDue({ spec }: CronJob): Reason[] {
  const { schedule = "", timeZone, startingDeadlineSeconds } = spec ?? {};
  const [problem] = checkCronSchedule(schedule);
  if (problem !== undefined) {
    const message = `Its schedule ${JSON.stringify(schedule)} cannot be read: ${problem}.`;
    return [
      { reason: "UnparseableSchedule", message, mend: "Write minute, hour, day, month and weekday, as in 0 3 * * 1." },
    ];
  }
  if (timeZone !== undefined && !isTimeZone(timeZone)) {
    const message = `Its time zone ${JSON.stringify(timeZone)} is none that this machine knows.`;
    return [
      {
        reason: "UnknownTimeZone",
        message,
        mend: "Name one of the time zone database, such as Etc/UTC or Europe/Berlin.",
      },
    ];
  }
  if (startingDeadlineSeconds === undefined || startingDeadlineSeconds >= LATEST_LOOK_SECONDS) return [];
  const message = `Its startingDeadlineSeconds (${startingDeadlineSeconds}) may be over before the controller looks, which it does each ${LATEST_LOOK_SECONDS} s.`;
  return [
    { reason: "ShortDeadline", message, mend: `Raise startingDeadlineSeconds to ${LATEST_LOOK_SECONDS} or more.` },
  ];
}

function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat("en", { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

function explainMissed(missed: Reason, deadline: number | undefined): Reason {
  const raise =
    deadline === undefined ? "" : ` Raise startingDeadlineSeconds (${deadline}) to start late what was missed.`;
  const mend = `The controller did not run at those times, or the clock was changed.${raise}`;
  return { ...missed, mend };
}

/** A time that came while the job of the one before still ran. */
function findOverlap({ spec }: CronJob, events: readonly Event[], { active, namespace }: CronJobContext): Reason[] {
  const [running] = active;
  if (running === undefined || spec?.concurrencyPolicy !== "Forbid") return [];
  const skipped = newestEvent(events, { of: ["JobAlreadyActive"] });
  const told = skipped === undefined ? "The next time is left out" : "Times have been left out";
  const message = `${told} while ${nameFew(active)} runs: its concurrencyPolicy is Forbid.`;
  const mend = `See what the job waits for (nodelet explain job ${running} -n ${namespace}), or set concurrencyPolicy to Replace or Allow.`;
  return [{ reason: "JobAlreadyActive", message, ...(skipped && { at: skipped.at }), mend }];
}

/** What ended the newest of its jobs, where that failed. */
function findLastFailure({ cronJob, jobs }: CronJobFacts, namespace: string): Reason[] {
  const { uid } = cronJob.metadata ?? {};
  const own = jobs.filter(({ metadata }) => metadata?.ownerReferences?.some((owner) => owner.uid === uid) === true);
  const newest = own.toSorted((a, b) => madeAt(b) - madeAt(a))[0];
  if (newest === undefined) return [];
  const { name = "" } = newest.metadata ?? {};
  const { ends } = explainJob({ job: newest, pods: [], events: [] });
  const mend = `See what it was: nodelet explain job ${name} -n ${namespace}.`;
  return ends.map((end) => ({ ...end, message: `Its last job ${name} has failed: ${end.message}`, mend }));
}

const madeAt = ({ metadata }: Job) => parseTime(metadata?.creationTimestamp) ?? 0;
