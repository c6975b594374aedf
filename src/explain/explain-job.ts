import type { Event, Job, JobCondition, Pod } from "../api/gen/types.ts";
import { isTerminalPhase } from "../api/pods.ts";
import { newestEvent, type ObjectExplanation, reasonFor } from "./explain-object.ts";
import { explainPod } from "./explain-pod.ts";
import type { Reason } from "./explanation.ts";

interface JobFacts {
  readonly job: Job;
  /** All pods of its namespace. */
  readonly pods: readonly Pod[];
  /** Its own events. */
  readonly events: readonly Event[];
}

/** More pods that wait are not told of. */
const MAX_PODS = 5;
const OWN_CONTROLLER = "kubernetes.io/job-controller";

/** Says why a job does not go on, or what ended it. Pure. */
export function explainJob(facts: JobFacts): ObjectExplanation {
  const { metadata, status = {} } = facts.job;
  const { namespace = "", name = "" } = metadata ?? {};
  const failed = conditionOf(facts.job, "Failed") ?? conditionOf(facts.job, "FailureTarget");
  const isComplete = conditionOf(facts.job, "Complete") !== undefined;
  const counts = [`${status.active ?? 0} active`, `${status.succeeded ?? 0} succeeded`, `${status.failed ?? 0} failed`];
  const word = isComplete ? "is complete" : failed === undefined ? "goes on" : "has failed";
  const isOver = isComplete || failed !== undefined;
  return {
    ...{ kind: "ObjectExplanation", version: 1, object: { kind: "Job", namespace, name } },
    state: `${word} (pods: ${counts.join(", ")})`,
    waits: isOver ? [] : findJobWaits(facts, { namespace, name }),
    ends: failed === undefined ? [] : [explainFailure(facts.job, failed, { namespace, name })],
  };
}

const conditionOf = ({ status }: Job, wanted: string) =>
  status?.conditions?.find(({ type, status: holds }) => type === wanted && holds === "True");

interface JobName {
  readonly namespace: string;
  readonly name: string;
}

function explainFailure(job: Job, condition: JobCondition, { namespace, name }: JobName): Reason {
  const { reason = "Failed", message = "", lastTransitionTime } = condition;
  const { backoffLimit = 6, activeDeadlineSeconds = 0 } = job.spec ?? {};
  const again = "A job that has failed is not tried again: delete it, and make it anew.";
  const logs = `See why its pods failed: kubectl logs -n ${namespace} job/${name}.`;
  const mends: Readonly<Record<string, string>> = {
    BackoffLimitExceeded: `${logs} Where failures are to be expected, raise backoffLimit (${backoffLimit}). ${again}`,
    DeadlineExceeded: `Raise activeDeadlineSeconds (${activeDeadlineSeconds}), or see why the work takes so long. ${again}`,
    PodFailurePolicy: `${logs} A rule of podFailurePolicy ended the job. ${again}`,
    FailedIndexes: `${logs} The indexes are in status.failedIndexes (${job.status?.failedIndexes ?? ""}). ${again}`,
    MaxFailedIndexesExceeded: `${logs} Where failures are to be expected, raise maxFailedIndexes. ${again}`,
  };
  const at = lastTransitionTime === undefined ? {} : { at: lastTransitionTime };
  return { reason, message, ...at, mend: mends[reason] ?? `${logs} ${again}` };
}

function findJobWaits({ job, pods, events }: JobFacts, { namespace, name }: JobName): Reason[] {
  const { spec, status = {}, metadata } = job;
  if (metadata?.deletionTimestamp !== undefined) return [deletion(metadata.finalizers ?? [], { namespace, name })];
  if (spec?.managedBy !== undefined && spec.managedBy !== OWN_CONTROLLER) {
    const message = `${spec.managedBy} is to run it (managedBy), and not the job controller.`;
    return [{ reason: "ManagedBy", message, mend: "See whether that controller runs; managedBy cannot be changed." }];
  }
  if (spec?.suspend === true) {
    const mend = `Let it go on: kubectl patch job ${name} -n ${namespace} -p '{"spec":{"suspend":false}}'.`;
    const at = conditionOf(job, "Suspended")?.lastTransitionTime;
    return [{ reason: "Suspended", message: "It is suspended (spec.suspend).", ...(at !== undefined && { at }), mend }];
  }
  if (spec?.parallelism === 0) {
    const message = "Its parallelism is 0, so that it has no pods.";
    return [{ reason: "NoParallelism", message, mend: "Raise spec.parallelism." }];
  }
  const own = pods.filter((pod) => pod.metadata?.ownerReferences?.some(({ uid }) => uid === metadata?.uid) === true);
  const refused = newestEvent(events, { of: ["FailedCreate"], unless: ["SuccessfulCreate"] });
  const alive = own.filter(({ status: of }) => !isTerminalPhase(of?.phase));
  const reasons = [
    ...(refused === undefined
      ? []
      : [reasonFor(namespace, { ...refused, message: `Its pods cannot be made: ${refused.message}` })]),
    ...alive.flatMap((pod) => explainPodOf(pod, namespace)).slice(0, MAX_PODS),
  ];
  if (reasons.length > 0 || alive.length > 0) return reasons;
  const failures = status.failed ?? 0;
  if (failures > 0) return [backOff(job, failures, { namespace, name })];
  const message = "It has no pods yet.";
  return [
    {
      reason: "NoPods",
      message,
      mend: `See whether the job controller runs, and its events: kubectl describe job ${name} -n ${namespace}.`,
    },
  ];
}

function deletion(finalizers: readonly string[], { namespace, name }: JobName): Reason {
  const message = `It is deleted, and waits for ${finalizers.length === 0 ? "its pods" : finalizers.join(", ")}.`;
  const mend = `See what of it is left: kubectl get pods -n ${namespace} -l batch.kubernetes.io/job-name=${name}.`;
  return { reason: "Terminating", message, mend };
}

function backOff({ spec }: Job, failures: number, { namespace, name }: JobName): Reason {
  const { backoffLimit = 6, backoffLimitPerIndex } = spec ?? {};
  const limit =
    backoffLimitPerIndex === undefined
      ? `${failures} of ${backoffLimit + 1} tries have failed`
      : `${failures} pods have failed`;
  const message = `${limit}: the next pod is made after a wait that doubles with each failure, up to ten minutes.`;
  return { reason: "BackOff", message, mend: `See why they failed: kubectl logs -n ${namespace} job/${name}.` };
}

function explainPodOf(pod: Pod, namespace: string): Reason[] {
  const { name = "" } = pod.metadata ?? {};
  return explainPod({ namespace, name, pod, records: [] }).waits.map((wait) => ({
    ...wait,
    message: `Pod ${name}: ${wait.message === "" ? wait.reason : wait.message}`,
    mend: wait.mend ?? `See all of it: nodelet explain pod ${name} -n ${namespace}.`,
  }));
}
