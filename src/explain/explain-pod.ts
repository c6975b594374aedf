import type { Container, ContainerStateTerminated, ContainerStatus, Pod, PodCondition } from "../api/gen/types.ts";
import { isTerminalPhase, podContainers, podReference } from "../api/pods.ts";
import { parseTime } from "../base/clock.ts";
import type { TimelineRecord } from "../base/timeline.ts";
import { type ExplainedCause, explainCause, explainStep, type PodExplanation, type Reason } from "./explanation.ts";
import { findMend } from "./find-mend.ts";
import { findResizes } from "./find-resizes.ts";
import { linkCauses } from "./link-causes.ts";

/** What is known of a pod, wherever it was read. */
interface PodFacts {
  readonly namespace: string;
  readonly name: string;
  /** The pod with its status; undefined where nobody has it any more. */
  readonly pod: Pod | undefined;
  /** Oldest first; those of earlier pods of the same name may be among them. */
  readonly records: readonly TimelineRecord[];
  /** What could not be read. Default: nothing. */
  readonly gaps?: readonly string[];
}

/** Says why a pod is as it is: what it waits for, what ended it, and what to do. Pure. */
export function explainPod({ namespace, name, pod, records, gaps = [] }: PodFacts): PodExplanation {
  const last = records.at(-1);
  const uid = pod === undefined ? (last?.pod.uid ?? "") : podReference(pod).uid;
  const linked = linkByPod(records);
  const about = { namespace, records: linked.filter((record) => record.pod.uid === uid) };
  const isOver = pod === undefined || isTerminalPhase(pod.status?.phase);
  return {
    kind: "PodExplanation",
    version: 1,
    pod: { namespace, name, uid, node: pod?.spec?.nodeName ?? "" },
    state: stateOf(pod),
    isReady: isReady(pod),
    waits: pod === undefined ? [] : isOver ? findDeletion(pod, about) : findWaits(pod, about),
    ends: isOver ? findEnds(pod, about) : findLastEnds(pod, about),
    steps: linked.map(explainStep),
    gaps,
  };
}

/** Links the records of each pod by themselves; the order of all of them stays. */
function linkByPod(records: readonly TimelineRecord[]): readonly TimelineRecord[] {
  const linked = new Map<TimelineRecord, TimelineRecord>();
  for (const uid of new Set(records.map(({ pod }) => pod.uid))) {
    const own = records.filter(({ pod }) => pod.uid === uid);
    for (const [index, record] of linkCauses(own).entries()) {
      const before = own[index];
      if (before !== undefined) linked.set(before, record);
    }
  }
  return records.map((record) => linked.get(record) ?? record);
}

/** What all reasons of a pod are made with. */
interface PodContext {
  readonly namespace: string;
  /** The pod's own records, without those of earlier pods of its name. */
  readonly records: readonly TimelineRecord[];
}

function stateOf(pod: Pod | undefined): string {
  if (pod === undefined) return "Gone";
  const phase = pod.status?.phase ?? "Pending";
  return pod.metadata?.deletionTimestamp !== undefined && !isTerminalPhase(phase) ? "Terminating" : phase;
}

function isReady(pod: Pod | undefined): boolean {
  return conditionOf(pod, "Ready")?.status === "True";
}

function conditionOf(pod: Pod | undefined, type: string): PodCondition | undefined {
  return pod?.status?.conditions?.find((condition) => condition.type === type);
}

function findWaits(pod: Pod, context: PodContext): Reason[] {
  const ending = findDeletion(pod, context);
  if (ending.length > 0) return ending;
  const unscheduled = findScheduling(pod, context);
  if (unscheduled.length > 0) return unscheduled;
  const { startTime } = pod.status ?? {};
  if (startTime === undefined && containerStatuses(pod).length === 0 && context.records.length === 0) {
    const message = `The node ${pod.spec?.nodeName ?? ""} has not taken it yet`;
    return [withMend({ reason: "NotTaken", message }, context.namespace)];
  }
  const waiting = [
    ...findInitRunning(pod),
    ...containerStatuses(pod).flatMap((status) => findWaiting(status, context)),
  ];
  // Containers that have not been looked at wait for what the pod waits for: its volumes, its sandbox.
  const hasNews = waiting.some(({ reason }) => reason !== "ContainerCreating" && reason !== "PodInitializing");
  const wholePod = hasNews ? [] : findPodTrouble(pod, context);
  const unready = findUnready(pod, context);
  const resizes = findResizes(pod, context.namespace);
  return wholePod.length > 0 ? [...wholePod, ...unready] : [...waiting, ...unready, ...resizes];
}

function findDeletion(pod: Pod, context: PodContext): Reason[] {
  const { deletionTimestamp, finalizers = [], deletionGracePeriodSeconds: grace } = pod.metadata ?? {};
  if (deletionTimestamp === undefined) return [];
  const running = containerStatuses(pod).filter(({ state }) => state?.running !== undefined);
  const at = beginOfDeletion(deletionTimestamp, grace);
  const held: Reason = {
    reason: "Finalizers",
    message: `It is being deleted, and stays until its finalizers are removed: ${finalizers.join(", ")}`,
    at,
    mend: "Whoever set the finalizers removes them; see whether that controller runs.",
  };
  const hooks = lastOf(context, ({ reason }) => reason === "FailedPreStopHook" || reason === "FailedKillPod");
  const isHeldOnly = finalizers.length > 0 && running.length === 0;
  return [
    ...(isHeldOnly ? [] : [describeEnding(pod, running, at)]),
    ...(finalizers.length > 0 ? [held] : []),
    ...hooks.map((record) => reasonOf(record, context)),
  ];
}

/** The deletion timestamp is the time at which the pod's time is over. */
function beginOfDeletion(deletionTimestamp: string, graceSeconds = 0): string {
  const until = parseTime(deletionTimestamp);
  return until === undefined ? deletionTimestamp : new Date(until - graceSeconds * 1_000).toISOString();
}

function describeEnding(pod: Pod, running: readonly ContainerStatus[], at: string): Reason {
  if (running.length === 0) {
    return { reason: "Terminating", message: "It is being deleted: what it has on the node is removed", at };
  }
  const names = running.map(({ name }) => name);
  const grace = pod.metadata?.deletionGracePeriodSeconds;
  const hooks = podContainers(pod)
    .filter(({ container }) => names.includes(container.name) && container.lifecycle?.preStop !== undefined)
    .map(({ container }) => container.name);
  const mend = `The preStop hook of ${hooks.join(", ")} comes first, and the program is told to end when that returns: see what they wait for. What runs when the time is over is killed.`;
  return {
    reason: "Terminating",
    message: `It is being deleted, and waits for its containers to end: ${names.join(", ")}${grace === undefined ? "" : ` (at most ${grace} s)`}`,
    at,
    ...(hooks.length > 0 && { mend }),
  };
}

const DEFAULT_SCHEDULER = "default-scheduler";

function findScheduling(pod: Pod, { namespace }: PodContext): Reason[] {
  if (pod.spec?.nodeName) return [];
  const condition = conditionOf(pod, "PodScheduled");
  const { schedulerName = DEFAULT_SCHEDULER } = pod.spec ?? {};
  const isForeign = schedulerName !== DEFAULT_SCHEDULER;
  const {
    reason = "Unscheduled",
    message = isForeign
      ? `Its scheduler, ${schedulerName}, has not looked at it yet`
      : "No scheduler has looked at it yet",
    lastTransitionTime: at,
  } = condition ?? { lastTransitionTime: pod.metadata?.creationTimestamp };
  const gates = (pod.spec?.schedulingGates ?? []).map(({ name }) => name);
  const words =
    reason === "SchedulingGated"
      ? `It is not to be scheduled before these gates are removed: ${gates.join(", ")}`
      : message;
  return [withMend({ reason, message: words, ...(at !== undefined && { at }) }, namespace)];
}

function findWaiting({ name, state, lastState }: ContainerStatus, context: PodContext): Reason[] {
  const waiting = state?.waiting;
  if (waiting === undefined) return [];
  const { reason = "Waiting" } = waiting;
  const message = waiting.message || findStage(name, reason, context);
  const since = lastOf(context, (record) => record.container === name)[0]?.firstAt;
  const causes = lastOf(context, (record) => record.container === name && record.reason === "BackOff").flatMap(
    causesOf,
  );
  const found = withMend(
    {
      ...{ reason, message, container: name },
      ...(since !== undefined && { at: new Date(since).toISOString() }),
      ...(reason === "CrashLoopBackOff" && causes.length > 0 && { causes }),
    },
    context.namespace,
  );
  const mend = reason === "CrashLoopBackOff" ? mendCrashes(lastState?.terminated, causes, context) : undefined;
  return [{ ...found, ...(mend !== undefined && { mend }) }];
}

/** What to do about a program that ends again and again: what ended it last says more than that it did. */
function mendCrashes(
  ended: ContainerStateTerminated | undefined,
  causes: readonly ExplainedCause[],
  { namespace }: PodContext,
): string | undefined {
  if (ended?.reason === "OOMKilled" || ended?.reason === "StartError" || ended?.reason === "ContainerCannotRun") {
    return findMend({ namespace, reason: ended.reason, message: ended.message ?? "" });
  }
  const led = causes.find(({ reason }) => reason === "ProbeVerdict" || reason === "FailedPostStartHook");
  return led === undefined ? undefined : findMend({ namespace, ...led });
}

/** The init container that runs: all containers after it wait for its end. */
function findInitRunning(pod: Pod): Reason[] {
  const { initContainers = [] } = pod.spec ?? {};
  const { initContainerStatuses = [] } = pod.status ?? {};
  const running = initContainerStatuses.find(({ name, state }) => {
    const isSidecar = initContainers.some((init) => init.name === name && init.restartPolicy === "Always");
    return state?.running !== undefined && !isSidecar;
  });
  if (running === undefined) return [];
  const { namespace, name } = podReference(pod);
  const at = running.state?.running?.startedAt;
  return [
    {
      reason: "InitContainerRunning",
      message: "It runs, and the containers after it wait for its end",
      container: running.name,
      ...(at !== undefined && { at }),
      mend: `See what it waits for: kubectl logs -n ${namespace} ${name} -c ${running.name}.`,
    },
  ];
}

/**
 * Says what a container that is being made waits for: what was recorded last, such as how much of its image is there. Empty
 * for one that waits for anything else.
 */
function findStage(name: string, reason: string, context: PodContext): string {
  if (reason !== "ContainerCreating" && reason !== "PodInitializing") return "";
  const isOf = ({ container, type }: TimelineRecord) =>
    type === "Normal" && (container === name || container === undefined);
  return lastOf(context, isOf)[0]?.message ?? "";
}

/** The reasons of records that keep a pod as a whole from starting. */
const POD_TROUBLES = [
  "FailedMount",
  "FailedAttachVolume",
  "FailedMapVolume",
  "FailedCreatePodSandBox",
  "FailedToCreatePodContainer",
  "NetworkNotReady",
  "FailedSync",
];

/** Finds why no container of the pod has begun. */
function findPodTrouble(pod: Pod, context: PodContext): Reason[] {
  const statuses = containerStatuses(pod);
  const hasBegun = statuses.some(({ state }) => state?.running !== undefined || state?.terminated !== undefined);
  if (hasBegun) return [];
  const troubles = POD_TROUBLES.filter((reason) => reason !== "FailedSync");
  const specific = lastOf(context, ({ reason }) => troubles.includes(reason));
  const any = specific.length > 0 ? specific : lastOf(context, ({ reason }) => POD_TROUBLES.includes(reason));
  return any.map((record) => reasonOf(record, context));
}

/** Finds why a pod that runs is not ready: its probes, and the gates that others open. */
function findUnready(pod: Pod, context: PodContext): Reason[] {
  if (isReady(pod)) return [];
  const running = containerStatuses(pod).filter(({ state, ready }) => state?.running !== undefined && !ready);
  const probes = running.flatMap(({ name, started }) => {
    const kind = started === true ? "Readiness" : "Startup";
    const isAbout = (record: TimelineRecord) =>
      record.container === name && record.reason === "Unhealthy" && record.message.startsWith(kind);
    const failed = lastOf(context, isAbout);
    const waits = {
      reason: "NotReady",
      message: `Its ${kind.toLowerCase()} probe has not succeeded yet`,
      container: name,
    };
    const main = podContainers(pod).find(({ container }) => container.name === name);
    if (main === undefined || !hasProbe(main.container, kind)) return [];
    return failed.length > 0 ? failed.map((record) => reasonOf(record, context)) : [waits];
  });
  const gates = (pod.spec?.readinessGates ?? []).filter(
    ({ conditionType }) => conditionOf(pod, conditionType)?.status !== "True",
  );
  const closed = gates.map(({ conditionType }) => ({
    reason: "ReadinessGatesNotReady",
    message: `Its readiness gate "${conditionType}" is not open; who opens it has not set the condition`,
  }));
  return [...probes, ...closed];
}

function hasProbe(container: Container, kind: "Readiness" | "Startup"): boolean {
  return (kind === "Readiness" ? container.readinessProbe : container.startupProbe) !== undefined;
}

/** The reasons of records that end a pod as a whole. The first that is found, from the newest on, counts. */
const POD_ENDS = ["Evicted", "Preempting", "NodeShutdown", "DeadlineExceeded", "Deleted"];

function findEnds(pod: Pod | undefined, context: PodContext): Reason[] {
  const { reason, message = "" } = pod?.status ?? {};
  const last = lastOf(context, (record) => POD_ENDS.includes(record.reason));
  const [same] = last.filter((record) => record.reason === reason);
  const told =
    reason === undefined
      ? []
      : [same === undefined ? withMend({ reason, message }, context.namespace) : reasonOf(same, context)];
  const ends = last.filter((record) => record.reason !== reason);
  // An eviction that names its rank among its causes need not be told of it again.
  const hasRank = last.some(({ causes = [] }) => causes.some((cause) => cause.reason === "EvictionRank"));
  const rank = hasRank ? [] : lastOf(context, (record) => record.reason === "EvictionRank");
  const recorded = [...ends, ...rank].map((record) => reasonOf(record, context));
  const containers =
    pod === undefined
      ? findKilling(context)
      : containerStatuses(pod).flatMap((status) => findTerminated(status, status.state?.terminated, { pod, context }));
  return [...told, ...recorded, ...containers];
}

/** Finds how a pod ended whose status nobody has any more. */
function findKilling(context: PodContext): Reason[] {
  const ends = ["Exited", "PodFailed", "PodSucceeded", "Killing"];
  return lastOf(context, ({ reason }) => ends.includes(reason)).map((record) => reasonOf(record, context));
}

/** Finds how the containers of a pod ended last that goes on. */
function findLastEnds(pod: Pod, context: PodContext): Reason[] {
  return containerStatuses(pod).flatMap((status) => {
    const { restartCount, lastState, state } = status;
    const isInit = pod.spec?.initContainers?.some(({ name }) => name === status.name) === true;
    if (isInit && state?.terminated?.exitCode === 0) return [];
    const ended = state?.terminated ?? (restartCount > 0 ? lastState?.terminated : undefined);
    return findTerminated(status, ended, { pod, context });
  });
}

function findTerminated(
  { name, restartCount }: ContainerStatus,
  ended: ContainerStateTerminated | undefined,
  { pod, context }: { readonly pod: Pod; readonly context: PodContext },
): Reason[] {
  if (ended === undefined) return [];
  const { reason = "Terminated", exitCode, signal, message = "", finishedAt } = ended;
  const limit = podContainers(pod).find(({ container }) => container.name === name)?.container.resources?.limits?.[
    "memory"
  ];
  const words = [
    `It ended with exit code ${exitCode}${signal === undefined || signal === 0 ? "" : ` by signal ${signal}`}`,
    ...(reason === "OOMKilled" && limit !== undefined ? [`its memory limit is ${limit}`] : []),
    ...(restartCount > 0 ? [`it was started again ${restartCount === 1 ? "once" : `${restartCount} times`}`] : []),
    ...(message === "" ? [] : [message.trim()]),
  ];
  const causes = lastOf(context, (record) => record.container === name && record.reason === "Exited").flatMap(causesOf);
  const found = {
    reason,
    message: words.join("; "),
    container: name,
    ...(finishedAt !== undefined && { at: finishedAt }),
    ...(causes.length > 0 && { causes }),
  };
  if (exitCode === 0) return [found];
  const { name: podName } = podReference(pod);
  const previous = restartCount > 0 ? " --previous" : "";
  const mend = `See what the program last said: kubectl logs${previous} -n ${context.namespace} ${podName} -c ${name}.`;
  return [{ mend, ...withMend(found, context.namespace) }];
}

function containerStatuses(pod: Pod): ContainerStatus[] {
  const { initContainerStatuses = [], containerStatuses: main = [] } = pod.status ?? {};
  return [...initContainerStatuses, ...main];
}

/** Returns the newest record that fits, as a list of one or none. */
function lastOf({ records }: PodContext, fits: (record: TimelineRecord) => boolean): TimelineRecord[] {
  const found = records.findLast(fits);
  return found === undefined ? [] : [found];
}

function reasonOf(record: TimelineRecord, { namespace }: PodContext): Reason {
  const { reason, message, container, firstAt: at, causes } = explainStep(record);
  const more = { ...(container !== undefined && { container }), ...(causes !== undefined && { causes }) };
  return withMend({ reason, message, at, ...more }, namespace);
}

function causesOf({ causes = [] }: TimelineRecord): ExplainedCause[] {
  return causes.map(explainCause);
}

function withMend(reason: Reason, namespace: string): Reason {
  const mend = findMend({ namespace, reason: reason.reason, message: reason.message });
  return mend === undefined ? reason : { ...reason, mend };
}

/** Tells whether an explanation is about a pod that is not as it should be: it waits, or has failed. */
export function isInTrouble({ state, waits, isReady: ready }: PodExplanation): boolean {
  if (state === "Gone") return false;
  return waits.length > 0 || (!ready && state !== "Succeeded");
}
