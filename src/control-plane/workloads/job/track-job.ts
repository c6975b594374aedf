import type { Job, JobCondition, JobStatus, Pod } from "../../../api/gen/types.ts";
import { isPodReady } from "../../../api/pods.ts";
import { formatTime } from "../../../base/clock.ts";
import { countIndexes, formatIndexes, hasIndex } from "./completion-indexes.ts";
import { isCountable, type JobView, newCondition } from "./examine-job.ts";
import { completionIndexOf, isPodFailed, isSuspended, isTracked } from "./job-pods.ts";
import { judgeFailure } from "./job-policies.ts";

/**
 * The next step of a job's books. A pod that ended is counted in steps, so that no crash loses or doubles it:
 *
 *     ended ──▶ its UID is in `uncountedTerminatedPods` ──▶ its finalizer is removed ──▶ the number rises, the UID goes
 *
 * An index counts at once, because the list of indexes cannot count it twice. A job that ends says so first by
 * FailureTarget or SuccessCriteriaMet, and by Failed or Complete when all its pods have ended and are counted.
 */
interface JobTracking {
  readonly status: JobStatus;
  /** The pods that may go once the status is stored. */
  readonly release: readonly Pod[];
  readonly news: readonly JobNews[];
}

interface JobNews {
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  readonly message: string;
}

/** So many pods at a time are counted, so that their UIDs take no more than 20 KB of the status. */
const MAX_UNCOUNTED = 500;

/** Computes the status from a view that was taken after pods were created and deleted. */
export function trackJob(view: JobView, now: number): JobTracking {
  const { job, active, terminating } = view;
  const verdict = active.length === 0 ? (view.verdict ?? computeCompletion(view, now)) : undefined;
  const books = countPods(view, verdict);
  const progress = planProgress(view, { verdict, now });
  const status: JobStatus = {
    ...(job.status?.completionTime && { completionTime: job.status.completionTime }),
    ...progress.status,
    ...(active.length > 0 && { active: active.length }),
    ready: active.filter(isPodReady).length,
    terminating,
    ...books.status,
  };
  const isSettled = books.release.length === 0 && !books.isFull && books.uncounted === 0 && terminating === 0;
  if (!isSettled || verdict === undefined || !progress.isSaid) {
    return { status, release: books.release, news: progress.news };
  }
  return { ...conclude(job, { status, verdict, now }), release: [] };
}

/** The condition of a job whose pods have done what was asked for. */
function computeCompletion({ job, succeeded }: JobView, now: number): JobCondition | undefined {
  const { completions } = job.spec ?? {};
  const isComplete = completions === undefined ? succeeded > 0 : succeeded >= completions;
  const cause = { reason: "CompletionsReached", message: "Reached expected number of succeeded pods" };
  return isComplete ? newCondition("SuccessCriteriaMet", cause, now) : undefined;
}

/** The counts of the status, and the pods that need not be kept for them. */
function countPods(view: JobView, verdict: JobCondition | undefined) {
  const { job, pods, indexes } = view;
  const tracked = pods.filter(isTracked);
  const uids = new Set(tracked.map(({ metadata }) => metadata?.uid ?? ""));
  const before = job.status?.uncountedTerminatedPods ?? {};
  const succeeded = new Set((before.succeeded ?? []).filter((uid) => uids.has(uid)));
  const failed = new Set((before.failed ?? []).filter((uid) => uids.has(uid)));
  const sums = {
    succeeded: (job.status?.succeeded ?? 0) + (before.succeeded ?? []).length - succeeded.size,
    failed: (job.status?.failed ?? 0) + (before.failed ?? []).length - failed.size,
  };
  const release: Pod[] = [];
  let newIndexes = 0;
  for (const pod of byIndex(tracked)) {
    if (newIndexes + succeeded.size + failed.size >= MAX_UNCOUNTED) break;
    if (!mayGo(view, pod, verdict)) continue;
    release.push(pod);
    const uid = pod.metadata?.uid ?? "";
    const ending = endingOf(view, pod, verdict);
    if (ending === "failed") failed.add(uid);
    else if (ending === "succeeded" && !failed.has(uid)) {
      if (indexes === undefined) succeeded.add(uid);
      else if (!hasIndex(indexes.counted, completionIndexOf(pod) ?? -1)) newIndexes += 1;
    }
  }
  const uncounted = succeeded.size + failed.size;
  const total = indexes ? countIndexes(indexes.succeeded) : sums.succeeded;
  const status: JobStatus = {
    ...(total > 0 && { succeeded: total }),
    ...(sums.failed > 0 && { failed: sums.failed }),
    ...(indexes && indexes.succeeded.length > 0 && { completedIndexes: formatIndexes(indexes.succeeded) }),
    ...(indexes?.failed && { failedIndexes: formatIndexes(indexes.failed) }),
    uncountedTerminatedPods: {
      ...(succeeded.size > 0 && { succeeded: [...succeeded] }),
      ...(failed.size > 0 && { failed: [...failed] }),
    },
  };
  return { status, release, uncounted, isFull: newIndexes + uncounted >= MAX_UNCOUNTED };
}

/** Pods of an indexed job in the order of their indexes. */
function byIndex(pods: readonly Pod[]): readonly Pod[] {
  return pods.toSorted((a, b) => (completionIndexOf(a) ?? -1) - (completionIndexOf(b) ?? -1));
}

/** False for a pod that may still end in either way, and for one whose failures its successor has yet to take over. */
function mayGo({ job, indexes }: JobView, pod: Pod, verdict: JobCondition | undefined): boolean {
  const isOver = job.metadata?.deletionTimestamp !== undefined || verdict !== undefined;
  if (isOver || pod.status?.phase === "Succeeded") return true;
  return isPodFailed(pod, job) && indexes?.lastFailed.get(completionIndexOf(pod) ?? -1) !== pod;
}

/** As what the pod is counted; undefined for a pod that is not counted at all. */
function endingOf({ job }: JobView, pod: Pod, verdict: JobCondition | undefined): "succeeded" | "failed" | undefined {
  if (!isCountable(job, pod)) return undefined;
  if (pod.status?.phase === "Succeeded") return "succeeded";
  // All pods of a job that failed have failed; those that a successful job does not need any more have not.
  const isLost = verdict !== undefined && verdict.type !== "SuccessCriteriaMet";
  if (!isLost && !isPodFailed(pod, job)) return undefined;
  return judgeFailure(job.spec?.podFailurePolicy, pod).isCounted ? "failed" : undefined;
}

interface Moment {
  verdict: JobCondition | undefined;
  now: number;
}

/** Start, suspension and the announcement of the end. */
function planProgress(view: JobView, { verdict, now }: Moment) {
  const { job } = view;
  const { conditions = [], startTime } = job.status ?? {};
  const started = startTime ?? (isSuspended(job) ? undefined : formatTime(now));
  const news: JobNews[] = [];
  if (verdict !== undefined) {
    const isSaid = conditions.some(({ type, status }) => type === verdict.type && status === "True");
    const said = isSaid ? conditions : withCondition(conditions, verdict);
    return { isSaid, news, status: statusOf(said, started) };
  }
  const before = conditions.find(({ type }) => type === "Suspended")?.status ?? "False";
  const after = isSuspended(job) ? "True" : "False";
  const isOver = view.verdict !== undefined || job.metadata?.deletionTimestamp !== undefined;
  const isUnchanged = before === after || isOver;
  if (isUnchanged) return { isSaid: false, news, status: statusOf(conditions, started) };
  const word = after === "True" ? "suspended" : "resumed";
  const reason = after === "True" ? "Suspended" : "Resumed";
  const condition = newCondition("Suspended", { reason: `Job${reason}`, message: `Job ${word}` }, now);
  news.push({ type: "Normal", reason, message: `Job ${word}` });
  // The time during which a job is suspended does not count against its deadline.
  const restarted = after === "True" ? undefined : formatTime(now);
  return {
    isSaid: false,
    news,
    status: statusOf(withCondition(conditions, { ...condition, status: after }), restarted),
  };
}

function statusOf(conditions: readonly JobCondition[], startTime: string | undefined) {
  return {
    ...(conditions.length > 0 && { conditions: [...conditions] }),
    ...(startTime !== undefined && { startTime }),
  };
}

function withCondition(conditions: readonly JobCondition[], condition: JobCondition): JobCondition[] {
  const isKnown = conditions.some(({ type }) => type === condition.type);
  if (!isKnown) return [...conditions, condition];
  return conditions.map((other) => (other.type === condition.type ? condition : other));
}

/** The status of a job that has ended, and how it is told. */
function conclude(job: Job, { status, verdict, now }: { status: JobStatus; verdict: JobCondition; now: number }) {
  const isComplete = verdict.type === "SuccessCriteriaMet";
  const { reason = "", message = "" } = verdict;
  const last = newCondition(isComplete ? "Complete" : "Failed", { reason, message }, now);
  const final: JobStatus = {
    ...status,
    conditions: withCondition(status.conditions ?? [], last),
    ...(isComplete && { completionTime: formatTime(now) }),
  };
  const news: JobNews[] = [];
  if (isComplete && (status.succeeded ?? 0) > (job.spec?.completions ?? Number.POSITIVE_INFINITY)) {
    const tooMany = "Too many succeeded pods running after completion count reached";
    news.push({ type: "Warning", reason: "TooManySucceededPods", message: tooMany });
  }
  news.push(
    isComplete
      ? { type: "Normal", reason: "Completed", message: "Job completed" }
      : { type: "Warning", reason, message },
  );
  return { status: final, news };
}
