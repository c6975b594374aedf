import type { ContainerStatus, Job, JobCondition, Pod } from "../../../api/gen/types.ts";
import { isRestartableInitContainer } from "../../../api/pods.ts";
import { parseTime, SECOND } from "../../../base/clock.ts";

const OWN_NAME = "kubernetes.io/job-controller";

/** Keeps a pod until its job has counted it. */
export const TRACKING_FINALIZER = "batch.kubernetes.io/job-tracking";
/** The annotation and the label with a pod's index. */
export const INDEX_ANNOTATION = "batch.kubernetes.io/job-completion-index";
export const INDEX_FAILURES_ANNOTATION = "batch.kubernetes.io/job-index-failure-count";
export const INDEX_IGNORED_FAILURES_ANNOTATION = "batch.kubernetes.io/job-index-ignored-failure-count";

/** True for a pod that its job has not counted yet. */
export function isTracked({ metadata }: Pod): boolean {
  return metadata?.finalizers?.includes(TRACKING_FINALIZER) ?? false;
}

/** The index of an indexed job's pod; undefined for a pod that has none. */
export function completionIndexOf({ metadata }: Pod): number | undefined {
  return readCount(metadata?.annotations?.[INDEX_ANNOTATION]);
}

/** How many pods of this index have failed before this one, and how many of those were not counted. */
export function indexFailuresOf({ metadata }: Pod): { counted: number; ignored: number } {
  const annotations = metadata?.annotations ?? {};
  const counted = readCount(annotations[INDEX_FAILURES_ANNOTATION]) ?? 0;
  return { counted, ignored: readCount(annotations[INDEX_IGNORED_FAILURES_ANNOTATION]) ?? 0 };
}

const MAX_INT32 = 2 ** 31 - 1;

function readCount(text: string | undefined): number | undefined {
  const count = /^\d+$/.test(text ?? "") ? Number(text) : Number.POSITIVE_INFINITY;
  return count <= MAX_INT32 ? count : undefined;
}

/** True for a job whose pods are replaced only when they have ended, and not while they are ending. */
export function replacesOnlyFailed({ spec }: Job): boolean {
  return spec?.podReplacementPolicy === "Failed" || spec?.podFailurePolicy !== undefined;
}

/** True for a pod that failed, or that is being deleted and will not be waited for. */
export function isPodFailed(pod: Pod, job: Job): boolean {
  if (pod.status?.phase === "Failed") return true;
  return !replacesOnlyFailed(job) && pod.metadata?.deletionTimestamp !== undefined && pod.status?.phase !== "Succeeded";
}

/** True for a job that names another controller than the control plane's own, which is left to that one. */
export function isManagedElsewhere({ spec }: Job): boolean {
  return (spec?.managedBy ?? OWN_NAME) !== OWN_NAME;
}

/** True for a job that is to have no pods for now. */
export function isSuspended({ spec }: Job): boolean {
  return spec?.suspend === true;
}

/** True for a job each of whose pods has an index, and that ends when each index is done. */
export function isIndexed({ spec }: Job): boolean {
  return spec?.completionMode === "Indexed";
}

/** The condition of this type if it holds. */
export function trueConditionOf({ status }: Job, type: string): JobCondition | undefined {
  return status?.conditions?.find((condition) => condition.type === type && condition.status === "True");
}

/** The condition by which the job has ended; undefined for a job that goes on. */
export function finishedConditionOf(job: Job): JobCondition | undefined {
  return trueConditionOf(job, "Complete") ?? trueConditionOf(job, "Failed");
}

/**
 * When the pod ended, in milliseconds: by its containers and sidecars, by the time at which it ceased to be ready, or by
 * its deletion.
 */
export function finishTimeOf(pod: Pod): number {
  const { metadata = {}, spec, status = {} } = pod;
  const sidecars = new Set((spec?.initContainers ?? []).filter(isRestartableInitContainer).map(({ name }) => name));
  const main = latestFinish(status.containerStatuses ?? []);
  const beside = (status.initContainerStatuses ?? []).filter(({ name }) => sidecars.has(name));
  const byContainers = beside.length === 0 ? main : latestOf(main, latestFinish(beside));
  if (byContainers !== undefined) return byContainers;
  const ready = status.conditions?.find(({ type, status: value }) => type === "Ready" && value === "False");
  const deletion = parseTime(metadata.deletionTimestamp);
  const byDeletion = deletion && deletion - (metadata.deletionGracePeriodSeconds ?? 0) * SECOND;
  return parseTime(ready?.lastTransitionTime) ?? byDeletion ?? parseTime(metadata.creationTimestamp) ?? 0;
}

/** Undefined as long as one of them has not ended. */
function latestFinish(statuses: readonly ContainerStatus[]): number | undefined {
  const times = statuses.map(({ state }) => parseTime(state?.terminated?.finishedAt));
  return times.reduce((latest, time) => latestOf(latest, time), times[0]);
}

function latestOf(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? undefined : Math.max(one, other);
}
