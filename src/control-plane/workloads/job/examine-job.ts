import type { Job, JobCondition, Pod } from "../../../api/gen/types.ts";
import { isTerminalPhase } from "../../../api/pods.ts";
import { formatTime, parseTime, SECOND } from "../../../base/clock.ts";
import {
  countIndexes,
  hasIndex,
  type IndexIntervals,
  intervalsOf,
  parseIndexes,
  uniteIndexes,
} from "./completion-indexes.ts";
import {
  completionIndexOf,
  finishTimeOf,
  indexFailuresOf,
  isIndexed,
  isPodFailed,
  isSuspended,
  isTracked,
  trueConditionOf,
} from "./job-pods.ts";
import { judgeFailure, metSuccessRule } from "./job-policies.ts";

/** A job and its pods at one moment, with everything that follows from them. */
export interface JobView {
  readonly job: Job;
  readonly pods: readonly Pod[];
  /** The pods that run or will run. */
  readonly active: readonly Pod[];
  /** How many pods are being deleted and have not ended. */
  readonly terminating: number;
  /** Pods that ended and stand in no status yet. */
  readonly newSucceeded: readonly Pod[];
  readonly newFailed: readonly Pod[];
  /** All pods that ever succeeded, or all indexes. */
  readonly succeeded: number;
  readonly failed: number;
  /** What an indexed job knows of its indexes. */
  readonly indexes: JobIndexes | undefined;
  /** The condition towards which the job goes, because of what has happened or because it went there before. */
  readonly verdict: JobCondition | undefined;
}

interface JobIndexes {
  /** Those that the status lists. */
  readonly counted: IndexIntervals;
  readonly succeeded: IndexIntervals;
  /** Undefined for a job whose indexes do not fail one by one. */
  readonly failed: IndexIntervals | undefined;
  /** The failed pod of an index that has no other pod. It stays until its successor carries its number of failures. */
  readonly lastFailed: ReadonlyMap<number, Pod>;
}

/** Computes what the pods mean for the job. The pods are all that belong to it, ended and ending ones included. */
export function examineJob(job: Job, pods: readonly Pod[], now: number): JobView {
  const { status = {} } = job;
  const { succeeded = [], failed = [] } = status.uncountedTerminatedPods ?? {};
  const active = pods.filter((pod) => !isTerminalPhase(pod.status?.phase) && !isDeleted(pod));
  const uncounted = pods.filter((pod) => isTracked(pod) && isCountable(job, pod));
  const newSucceeded = withoutUids(uncounted, succeeded).filter((pod) => pod.status?.phase === "Succeeded");
  const newFailed = withoutUids(uncounted, failed).filter((pod) => isPodFailed(pod, job));
  const indexes = isIndexed(job) ? examineIndexes(job, { active, countable: uncounted }) : undefined;
  const counted = newFailed.filter((pod) => judgeFailure(job.spec?.podFailurePolicy, pod).isCounted);
  const sums = {
    succeeded: indexes
      ? countIndexes(indexes.succeeded)
      : (status.succeeded ?? 0) + newSucceeded.length + succeeded.length,
    failed: (status.failed ?? 0) + counted.length + failed.length,
  };
  return {
    job,
    pods,
    active,
    terminating: pods.filter((pod) => !isTerminalPhase(pod.status?.phase) && isDeleted(pod)).length,
    newSucceeded,
    newFailed,
    ...sums,
    indexes,
    verdict: computeVerdict(job, { pods, failed: sums.failed, indexes, now }),
  };
}

const isDeleted = ({ metadata }: Pod) => metadata?.deletionTimestamp !== undefined;

function withoutUids(pods: readonly Pod[], uids: readonly string[]): Pod[] {
  const known = new Set(uids);
  return pods.filter(({ metadata }) => !known.has(metadata?.uid ?? ""));
}

/** False for a pod of an indexed job whose index is none, or none any more. */
export function isCountable(job: Job, pod: Pod): boolean {
  return !isIndexed(job) || (completionIndexOf(pod) ?? Number.POSITIVE_INFINITY) < (job.spec?.completions ?? 0);
}

function examineIndexes(
  job: Job,
  { active, countable }: { active: readonly Pod[]; countable: readonly Pod[] },
): JobIndexes {
  const { spec, status = {} } = job;
  const completions = spec?.completions ?? 0;
  const counted = parseIndexes(status.completedIndexes ?? "", completions);
  const justSucceeded = countable.filter((pod) => pod.status?.phase === "Succeeded");
  const succeeded = uniteIndexes(counted, indexesOf(justSucceeded));
  const limit = spec?.backoffLimitPerIndex;
  if (limit === undefined) return { counted, succeeded, failed: undefined, lastFailed: new Map() };
  const justFailed = countable.filter((pod) => failsIndex(job, pod, limit));
  const failed = uniteIndexes(parseIndexes(status.failedIndexes ?? "", completions), indexesOf(justFailed));
  const done = uniteIndexes(uniteIndexes(succeeded, failed), indexesOf(active));
  const waiting = countable.filter((pod) => isPodFailed(pod, job) && !hasIndex(done, completionIndexOf(pod) ?? -1));
  return { counted, succeeded, failed, lastFailed: newestByIndex(waiting) };
}

/** The indexes of the pods that have one. */
export function indexesOf(pods: readonly Pod[]): IndexIntervals {
  return intervalsOf(pods.flatMap((pod) => completionIndexOf(pod) ?? []));
}

function failsIndex(job: Job, pod: Pod, limit: number): boolean {
  if (!isPodFailed(pod, job)) return false;
  const { action, isCounted } = judgeFailure(job.spec?.podFailurePolicy, pod);
  return action === "FailIndex" || (isCounted && indexFailuresOf(pod).counted >= limit);
}

function newestByIndex(pods: readonly Pod[]): Map<number, Pod> {
  const newest = new Map<number, Pod>();
  const failures = (pod: Pod) => indexFailuresOf(pod).counted + indexFailuresOf(pod).ignored;
  for (const pod of pods) {
    const index = completionIndexOf(pod) ?? -1;
    const before = newest.get(index);
    const isNewer =
      before === undefined || (failures(before) <= failures(pod) && finishTimeOf(before) <= finishTimeOf(pod));
    if (isNewer) newest.set(index, pod);
  }
  return newest;
}

interface Evidence {
  pods: readonly Pod[];
  failed: number;
  indexes: JobIndexes | undefined;
  now: number;
}

/** The order decides where several apply: what was said before, then failures, then success. */
function computeVerdict(job: Job, evidence: Evidence): JobCondition | undefined {
  const said = trueConditionOf(job, "SuccessCriteriaMet") ?? trueConditionOf(job, "FailureTarget");
  if (said !== undefined) return said;
  const failure = computeFailure(job, evidence);
  if (failure !== undefined) return newCondition("FailureTarget", failure, evidence.now);
  const message = evidence.indexes && metSuccessRule(job, evidence.indexes.succeeded);
  return message === undefined
    ? undefined
    : newCondition("SuccessCriteriaMet", { reason: "SuccessPolicy", message }, evidence.now);
}

interface Cause {
  reason: string;
  message: string;
}

function computeFailure(job: Job, { pods, failed, indexes, now }: Evidence): Cause | undefined {
  const { podFailurePolicy, backoffLimit = 6, completions = 0, maxFailedIndexes } = job.spec ?? {};
  for (const pod of podFailurePolicy === undefined ? [] : pods) {
    const { failsJob } = isPodFailed(pod, job) ? judgeFailure(podFailurePolicy, pod) : {};
    if (failsJob !== undefined) return { reason: "PodFailurePolicy", message: failsJob };
  }
  if (failed > backoffLimit || hasRestartedTooOften(job, pods)) {
    return { reason: "BackoffLimitExceeded", message: "Job has reached the specified backoff limit" };
  }
  if ((activeTimeLeftMs(job, now) ?? 1) <= 0) {
    return { reason: "DeadlineExceeded", message: "Job was active longer than specified deadline" };
  }
  if (indexes?.failed === undefined) return undefined;
  const failedIndexes = countIndexes(indexes.failed);
  if (maxFailedIndexes !== undefined && failedIndexes > maxFailedIndexes) {
    const message = "Job has exceeded the specified maximal number of failed indexes";
    return { reason: "MaxFailedIndexesExceeded", message };
  }
  const isDone = failedIndexes > 0 && failedIndexes + countIndexes(indexes.succeeded) >= completions;
  return isDone ? { reason: "FailedIndexes", message: "Job has failed indexes" } : undefined;
}

/** True where the containers of pods that restart in place have restarted as often as pods may fail. */
function hasRestartedTooOften({ spec }: Job, pods: readonly Pod[]): boolean {
  if (spec?.template.spec?.restartPolicy !== "OnFailure") return false;
  const restarts = pods
    .filter(({ status }) => status?.phase === "Running" || status?.phase === "Pending")
    .flatMap(({ status }) => [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])])
    .reduce((sum, { restartCount }) => sum + restartCount, 0);
  return restarts > 0 && restarts >= (spec.backoffLimit ?? 6);
}

/** How long the job may still be active; undefined for a job without a deadline, and while it has not started. */
export function activeTimeLeftMs(job: Job, now: number): number | undefined {
  const { activeDeadlineSeconds } = job.spec ?? {};
  const start = parseTime(job.status?.startTime);
  if (activeDeadlineSeconds === undefined || start === undefined || isSuspended(job)) return undefined;
  return start + activeDeadlineSeconds * SECOND - now;
}

/** A condition that holds from now on. */
export function newCondition(type: string, { reason, message }: Cause, now: number): JobCondition {
  const at = formatTime(now);
  return { type, status: "True", lastProbeTime: at, lastTransitionTime: at, reason, message };
}
