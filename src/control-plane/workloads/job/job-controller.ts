import { isApiError } from "../../../api/api-error.ts";
import type { Job } from "../../../api/gen/types.ts";
import { type KubeObject, typed, untyped } from "../../../api/object.ts";
import { isEqualJson } from "../../../api/patch/json-value.ts";
import type { Clock } from "../../../base/clock.ts";
import { type Controller, type ControllerDeps, runFollowingWithEvents } from "../../control-loop/controller.ts";
import { lenientSelectorOf } from "../../control-loop/lenient-selector.ts";
import { namespacedKeyOf, splitNamespacedKey } from "../../control-loop/namespaced-key.ts";
import { createEventRecorder, type EventRecorder } from "../../control-loop/record-events.ts";
import { soonest } from "../../control-loop/soonest.ts";
import { createWorkQueue } from "../../control-loop/work-queue.ts";
import { claimDependents } from "../pod-control/claim-dependents.ts";
import { isControlledBy } from "../pod-control/controller-ref.ts";
import { followDependents } from "../pod-control/follow-dependents.ts";
import { createPodControl, type PodControl } from "../pod-control/pod-control.ts";
import { runSlowStart } from "../pod-control/slow-start.ts";
import { activeTimeLeftMs, examineJob, type JobView } from "./examine-job.ts";
import { continueStreak, type FailureStreak } from "./job-back-off.ts";
import { createJobMetrics, type JobMetrics, type SyncAction } from "./job-metrics.ts";
import { finishedConditionOf, isManagedElsewhere, TRACKING_FINALIZER } from "./job-pods.ts";
import { planJobPods } from "./plan-job-pods.ts";
import { podOfJob } from "./pod-of-job.ts";
import { releaseAll, releasePod } from "./release-pod.ts";
import { trackJob } from "./track-job.ts";

const JOBS = "jobs.batch";
const COMPONENT = "job-controller";

interface JobDeps extends ControllerDeps {
  events: EventRecorder;
  control: PodControl;
  counted: JobMetrics;
  /** The failures in a row of the jobs that have some, by key. As upstream, they are forgotten with the process. */
  streaks: Map<string, KnownStreak>;
}

interface KnownStreak extends FailureStreak {
  readonly uid: string;
  /** When its last failure was seen, by a clock that nobody sets. */
  readonly seenAt: number;
}

/** Runs the pods of jobs until the jobs have succeeded or failed (`pkg/controller/job`). */
export function createJobController(deps: ControllerDeps): Controller {
  const events = createEventRecorder(deps, COMPONENT);
  const counted = createJobMetrics(deps.clock, deps.metrics);
  const jobs: JobDeps = { ...deps, events, control: createPodControl(deps, events), counted, streaks: new Map() };
  const queue = createWorkQueue(deps, { name: "job", reconcile: (key) => reconcileJob(jobs, key) });
  const follow = () => [
    deps.feed.follow(JOBS, ({ object }) => queue.add(namespacedKeyOf(object.metadata))),
    followDependents(deps, { resource: "pods", ownerKind: "Job", ownerResource: JOBS, selects }, (key) =>
      queue.add(key),
    ),
  ];
  return { run: (signal) => runFollowingWithEvents(queue, follow, events, signal) };
}

function selects(job: KubeObject, pod: KubeObject): boolean {
  return lenientSelectorOf(typed("Job", job).spec?.selector).matches(pod.metadata.labels ?? {});
}

/** Brings the pods in line first, and then, from what is there afterwards, the status. */
async function reconcileJob(deps: JobDeps, key: string): Promise<number | undefined> {
  const { clock, streaks } = deps;
  const object = readJob(deps, key);
  if (object === undefined || finishedConditionOf(typed("Job", object)) !== undefined) {
    streaks.delete(key);
    return undefined;
  }
  if (isManagedElsewhere(typed("Job", object))) return undefined;
  await claimDependents(deps, {
    owner: object,
    ownerResource: JOBS,
    resource: "pods",
    candidates: deps.reader.list("pods", object.metadata.namespace),
    selects: (pod) => selects(object, pod),
    finalizers: [TRACKING_FINALIZER],
  });
  const before = lookAt(deps, key, object);
  if (before === undefined) return undefined;
  const plan = planJobPods(before.view, before.streak, clock.now());
  const after = await deps.counted.sync(before.view.job, actionOf(plan), async () => {
    const error = await changePods(deps, before, plan);
    const sight = lookAt(deps, key, object);
    if (sight !== undefined) await keepBooks(deps, key, sight);
    if (error !== undefined) throw error;
    return sight;
  });
  const left = after && activeTimeLeftMs(after.view.job, clock.now());
  return soonest([plan.waitMs, left].filter((wait) => wait !== undefined && wait > 0));
}

function actionOf({ create, end, dismiss }: ReturnType<typeof planJobPods>): SyncAction {
  if (create.length > 0) return "pods_created";
  return end.length + dismiss.length > 0 ? "pods_deleted" : "tracking";
}

function readJob({ reader }: JobDeps, key: string): KubeObject | undefined {
  return reader.get({ resource: JOBS, ...splitNamespacedKey(key) });
}

interface Sight {
  readonly object: KubeObject;
  readonly view: JobView;
  readonly streak: FailureStreak | undefined;
}

/** The job as it is now; undefined when it is gone, or another has its name. */
function lookAt(deps: JobDeps, key: string, { metadata }: KubeObject): Sight | undefined {
  const object = readJob(deps, key);
  if (object === undefined || object.metadata.uid !== metadata.uid) return undefined;
  const { reader, clock, streaks } = deps;
  const own = reader.list("pods", metadata.namespace).filter((pod) => isControlledBy(pod, object));
  const view = examineJob(
    typed("Job", object),
    own.map((pod) => typed("Pod", pod)),
    clock.now(),
  );
  const known = streaks.get(key);
  const before = known !== undefined && known.uid === metadata.uid ? asOfNow(known, clock) : undefined;
  const streak = continueStreak(before, view);
  return { object, view, streak: streak && notAfter(clock.now(), streak) };
}

/** The streak of a node whose clock is ahead: nothing has failed in the future. */
function notAfter(now: number, { failures, lastFailureAt }: FailureStreak): FailureStreak {
  return { failures, lastFailureAt: Math.min(lastFailureAt, now) };
}

/** The streak by the clock as it is set now: set back, it would put the last failure into the future. */
function asOfNow({ failures, lastFailureAt, seenAt }: KnownStreak, clock: Clock): FailureStreak {
  const sinceMs = clock.monotonic() - seenAt;
  return { failures, lastFailureAt: Math.min(lastFailureAt, clock.now() - sinceMs) };
}

/** Returns the first ApiError, for another attempt after the books are kept. */
async function changePods(
  deps: JobDeps,
  { object, view }: Sight,
  plan: ReturnType<typeof planJobPods>,
): Promise<Error | undefined> {
  const { control } = deps;
  const { end, dismiss, create } = plan;
  const deletions = [...end, ...dismiss].map(async (pod) => {
    try {
      if (dismiss.includes(pod)) await releasePod(deps, pod);
      await control.remove(object, untyped(pod));
      return undefined;
    } catch (error) {
      if (isApiError(error)) return error;
      throw error;
    }
  });
  const failed = (await Promise.all(deletions)).find((error) => error !== undefined);
  if (failed !== undefined) return failed;
  const { error } = await runSlowStart(create.length, async (position) => {
    const index = create[position];
    const predecessor = index === undefined ? undefined : view.indexes?.lastFailed.get(index);
    await control.create(object, podOfJob(object, index === undefined ? undefined : { index, predecessor }));
  });
  return error;
}

/** Stores the status, and lets the pods go that are counted in it. */
async function keepBooks(deps: JobDeps, key: string, { object, view, streak }: Sight): Promise<void> {
  const { writer, clock, events, streaks } = deps;
  const { status, release, news } = trackJob(view, clock.now());
  if (!isEqualJson(status, object["status"])) {
    const written = { ...object, status };
    await writer.update(JOBS, written, "status");
    countBooks(deps, view.job, typed("Job", written));
  }
  const { uid = "" } = object.metadata;
  if (streak === undefined) streaks.delete(key);
  else {
    const known = streaks.get(key);
    const isSeen = known?.failures === streak.failures && view.newFailed.length === 0;
    streaks.set(key, { ...streak, uid, seenAt: isSeen ? known.seenAt : clock.monotonic() });
  }
  for (const said of news) events.record({ about: object, ...said });
  await releaseAll(deps, release);
}

function countBooks({ counted }: JobDeps, before: Job, after: Job): void {
  counted.counted(before, after);
  const condition = finishedConditionOf(after);
  if (condition !== undefined && finishedConditionOf(before) === undefined) counted.finished(after, condition);
}
