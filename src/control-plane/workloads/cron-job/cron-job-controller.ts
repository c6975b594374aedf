import { isApiError } from "../../../api/api-error.ts";
import type { Job, ObjectReference } from "../../../api/gen/types.ts";
import { type KubeObject, typed } from "../../../api/object.ts";
import { isEqualJson } from "../../../api/patch/json-value.ts";
import { MINUTE, SECOND } from "../../../base/clock.ts";
import { messageOf } from "../../../base/errors.ts";
import { createMetrics, type Metrics } from "../../../base/metrics.ts";
import { type Controller, type ControllerDeps, runFollowingWithEvents } from "../../control-loop/controller.ts";
import { isGoneAlready } from "../../control-loop/gone-already.ts";
import { namespacedKeyOf, splitNamespacedKey } from "../../control-loop/namespaced-key.ts";
import { createEventRecorder, type EventRecorder } from "../../control-loop/record-events.ts";
import { createWorkQueue } from "../../control-loop/work-queue.ts";
import type { ResourceEvent } from "../../ports/resources.ts";
import { controllerRefTo, isControlledBy } from "../pod-control/controller-ref.ts";
import { followDependents } from "../pod-control/follow-dependents.ts";
import { type JobStart, planCronJob, SCHEDULED_ANNOTATION, withStarted } from "./plan-cron-job.ts";

const CRON_JOBS = "cronjobs.batch";
const JOBS = "jobs.batch";
const COMPONENT = "cronjob-controller";
/** The longest wait, because no timer tells that the machine has slept or that its clock was set. */
const LONGEST_WAIT_MS = MINUTE;

interface CronJobDeps extends ControllerDeps {
  events: EventRecorder;
  /** How long after they were due jobs are made, in seconds. */
  skew: { observe(seconds: number): void };
  /** When the schedule of a cron job was last changed, by key. What was due before by the new one is not started. */
  changedAt: Map<string, number>;
}

/** Makes the jobs of cron jobs when they are due, and forgets old ones (`pkg/controller/cronjob`). */
export function createCronJobController(deps: ControllerDeps): Controller {
  const events = createEventRecorder(deps, COMPONENT);
  const skew = declareSkew(deps.metrics ?? createMetrics());
  const cronJobs: CronJobDeps = { ...deps, events, skew, changedAt: new Map() };
  const queue = createWorkQueue(deps, { name: "cronjob", reconcile: (key) => reconcileCronJob(cronJobs, key) });
  const dependents = { resource: JOBS, ownerKind: "CronJob", ownerResource: CRON_JOBS, selects: () => false };
  const follow = () => [
    deps.feed.follow(CRON_JOBS, (event) => {
      const key = namespacedKeyOf(event.object.metadata);
      if (event.type === "DELETED") cronJobs.changedAt.delete(key);
      else if (isRescheduled(event)) cronJobs.changedAt.set(key, deps.clock.now());
      queue.add(key);
    }),
    followDependents(deps, dependents, (key) => queue.add(key)),
  ];
  return { run: (signal) => runFollowingWithEvents(queue, follow, events, signal) };
}

/** Upstream's series (`pkg/controller/cronjob/metrics`). */
function declareSkew(metrics: Metrics): CronJobDeps["skew"] {
  const help = "Time between when a cronjob is scheduled to be run, and when the corresponding job is created";
  const buckets = Array.from({ length: 10 }, (_, power) => 2 ** power);
  return metrics.histogram("cronjob_controller_job_creation_skew_duration_seconds", help, { buckets });
}

function isRescheduled({ object, previous }: ResourceEvent): boolean {
  if (previous === undefined) return false;
  const [after, before] = [typed("CronJob", object).spec, typed("CronJob", previous).spec];
  return after?.schedule !== before?.schedule || after?.timeZone !== before?.timeZone;
}

async function reconcileCronJob(deps: CronJobDeps, key: string): Promise<number | undefined> {
  const { reader, writer, clock, events, changedAt } = deps;
  const object = reader.get({ resource: CRON_JOBS, ...splitNamespacedKey(key) });
  if (object === undefined) return undefined;
  const jobs = reader.list(JOBS, object.metadata.namespace).filter((job) => isControlledBy(job, object));
  const options = { now: clock.now(), notBefore: changedAt.get(key) ?? 0 };
  const plan = planCronJob(
    typed("CronJob", object),
    jobs.map((job) => typed("Job", job)),
    options,
  );
  for (const said of plan.news) events.record({ about: object, ...said });
  for (const { metadata = {} } of plan.forget) await removeJob(deps, object, metadata);
  let { status } = plan;
  if (plan.start !== undefined) {
    const started = await startJob(deps, object, plan.start);
    if (started !== undefined) status = withStarted(status, started, plan.start);
  }
  if (!isEqualJson(status, object["status"])) await writer.update(CRON_JOBS, { ...object, status }, "status");
  return plan.waitMs === undefined ? undefined : Math.min(plan.waitMs, LONGEST_WAIT_MS);
}

/** Returns the reference to the new job; undefined when none could be made because another owner has its name. */
async function startJob(deps: CronJobDeps, object: KubeObject, start: JobStart): Promise<ObjectReference | undefined> {
  const { reader, writer, events, skew, clock } = deps;
  const { namespace = "" } = object.metadata;
  for (const { name = "", uid = "" } of start.replaces) await removeJob(deps, object, { name, uid });
  // A start that was made before a crash is not made again, and counts as this one.
  const found = reader.get({ resource: JOBS, namespace, name: start.name });
  if (found !== undefined) return isControlledBy(found, object) ? referenceTo(found) : undefined;
  try {
    const created = await writer.create(JOBS, jobOf(object, start));
    skew.observe((clock.now() - start.dueAt) / SECOND);
    const message = `Created job ${start.name}`;
    events.record({ about: object, type: "Normal", reason: "SuccessfulCreate", message });
    return referenceTo(created);
  } catch (error) {
    const isLeaving =
      isApiError(error) && error.details.causes?.some(({ reason }) => reason === "NamespaceTerminating");
    if (isLeaving) return undefined;
    const message = `Error creating job: ${messageOf(error)}`;
    if (isApiError(error)) events.record({ about: object, type: "Warning", reason: "FailedCreate", message });
    throw error;
  }
}

function jobOf(object: KubeObject, { name, dueText }: JobStart): KubeObject {
  const { metadata = {}, spec = { template: {} } } = typed("CronJob", object).spec?.jobTemplate ?? {};
  return {
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: {
      name,
      namespace: object.metadata.namespace ?? "",
      ...(metadata.labels && { labels: metadata.labels }),
      annotations: { ...metadata.annotations, [SCHEDULED_ANNOTATION]: dueText },
      ownerReferences: [controllerRefTo(object)],
    },
    spec: structuredClone(spec),
  };
}

function referenceTo({ apiVersion, kind, metadata }: KubeObject): ObjectReference {
  const { namespace = "", name = "", uid = "", resourceVersion = "" } = metadata;
  return { apiVersion, kind, namespace, name, uid, resourceVersion };
}

/** Deletes the job and, in the background, its pods. A job that is gone already is fine. */
async function removeJob(
  { reader, writer, events }: CronJobDeps,
  object: KubeObject,
  { name = "", uid = "" }: NonNullable<Job["metadata"]>,
): Promise<void> {
  const target = { resource: JOBS, namespace: object.metadata.namespace ?? "", name };
  try {
    await writer.remove(target, { propagationPolicy: "Background", preconditions: { uid } });
    events.record({ about: object, type: "Normal", reason: "SuccessfulDelete", message: `Deleted job ${name}` });
  } catch (error) {
    if (isGoneAlready(error, reader, { ...target, uid })) return;
    const message = `Deleted job: ${messageOf(error)}`;
    if (isApiError(error)) events.record({ about: object, type: "Warning", reason: "FailedDelete", message });
    throw error;
  }
}
