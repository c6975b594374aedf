import type { Container, ContainerState, ContainerStatus, Pod } from "../../api/gen/types.ts";
import { isRestartableInitContainer, isTerminalPhase, podReference } from "../../api/pods.ts";
import { parseTime } from "../../base/clock.ts";
import { formatHumanDuration } from "../../base/human-duration.ts";

/** A pod as one line of a table, each cell as kubectl prints it (pkg/printers/internalversion, printPod). */
interface PodRow {
  namespace: string;
  name: string;
  /** `1/2` */
  ready: string;
  /** One word for a person: `Running`, `CrashLoopBackOff`, `Init:0/1`, `Completed`, `Terminating`, … */
  status: string;
  restartCount: number;
  /** `3 (5m ago)` */
  restarts: string;
  age: string;
  ip: string;
}

/** `now` is in milliseconds since the epoch. */
export function computePodRow(pod: Pod, now: number): PodRow {
  const { namespace, name } = podReference(pod);
  const total = (pod.spec?.containers.length ?? 0) + initContainers(pod).filter(isRestartableInitContainer).length;
  const summary = summarise(pod);
  const since = livesSince(pod);
  return {
    namespace,
    name,
    ready: `${summary.ready}/${total}`,
    status: summary.status,
    restartCount: summary.restarts,
    restarts: formatRestarts(summary, now),
    age: since === undefined ? "<unknown>" : formatHumanDuration(now - since),
    ip: pod.status?.podIPs?.[0]?.ip ?? pod.status?.podIP ?? "<none>",
  };
}

/**
 * Returns since when the pod lives. A restarted node agent took the pod over only at its own start, but the containers
 * know how long they have been running.
 */
function livesSince(pod: Pod): number | undefined {
  const statuses = [...(pod.status?.initContainerStatuses ?? []), ...(pod.status?.containerStatuses ?? [])];
  const starts = statuses.map(({ state }) => state?.running?.startedAt ?? state?.terminated?.startedAt);
  const times = [pod.metadata?.creationTimestamp, pod.status?.startTime, ...starts].map(parseTime);
  const known = times.filter((time) => time !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
}

/** Computes the STATUS cell alone. */
export function computePodStatusWord(pod: Pod): string {
  return summarise(pod).status;
}

interface Summary {
  status: string;
  ready: number;
  restarts: number;
  /** The time when a container last ended and was to be started again. */
  lastRestartAt: number | undefined;
}

function summarise(pod: Pod): Summary {
  const initial = summariseInit(pod);
  const waitsForInit = initial.waitingFor !== undefined && !hasCondition(pod, "Initialized");
  const summary = waitsForInit ? { ...initial, status: initial.waitingFor ?? "" } : summariseMain(pod, initial);
  if (pod.metadata?.deletionTimestamp === undefined) return summary;
  if (pod.status?.reason === "NodeLost") return { ...summary, status: "Unknown" };
  return isTerminalPhase(pod.status?.phase) ? summary : { ...summary, status: "Terminating" };
}

interface InitSummary extends Summary {
  /** The state of the first init container that is not done; undefined when all are done. */
  waitingFor: string | undefined;
}

function summariseInit(pod: Pod): InitSummary {
  const containers = new Map(initContainers(pod).map((container) => [container.name, container]));
  const statuses = pod.status?.initContainerStatuses ?? [];
  const gated = pod.status?.conditions?.some(({ reason }) => reason === "SchedulingGated") ?? false;
  const status = gated ? "SchedulingGated" : (pod.status?.reason ?? pod.status?.phase ?? "Unknown");
  const summary: InitSummary = { status, ready: 0, restarts: 0, lastRestartAt: undefined, waitingFor: undefined };
  for (const [index, container] of statuses.entries()) {
    const spec = containers.get(container.name);
    countRestarts(summary, container);
    const waitingFor = initContainerWaits(spec, container, { index, total: containers.size });
    if (waitingFor !== undefined) {
      summary.waitingFor = waitingFor;
      break;
    }
    if (isStartedSidecar(spec, container) && container.ready) summary.ready += 1;
  }
  return summary;
}

/** Tells what the pod waits for in this init container; undefined when the pod's start may go past it. */
function initContainerWaits(
  spec: Container | undefined,
  status: ContainerStatus,
  position: { index: number; total: number },
): string | undefined {
  const { terminated, waiting } = status.state ?? {};
  if (terminated?.exitCode === 0) return undefined;
  if (isStartedSidecar(spec, status)) return undefined;
  if (terminated !== undefined) return `Init:${terminatedWord(terminated)}`;
  if (waiting?.reason && waiting.reason !== "PodInitializing") return `Init:${waiting.reason}`;
  return `Init:${position.index}/${position.total}`;
}

function isStartedSidecar(spec: Container | undefined, status: ContainerStatus): boolean {
  return spec !== undefined && isRestartableInitContainer(spec) && status.started === true;
}

function summariseMain(pod: Pod, initial: InitSummary): Summary {
  const summary: Summary = { ...initial, restarts: 0, lastRestartAt: undefined };
  const sidecars = new Set(
    initContainers(pod)
      .filter(isRestartableInitContainer)
      .map(({ name }) => name),
  );
  for (const container of pod.status?.initContainerStatuses ?? []) {
    if (sidecars.has(container.name)) countRestarts(summary, container); // others are done for good
  }
  let running = false;
  for (const container of (pod.status?.containerStatuses ?? []).toReversed()) {
    countRestarts(summary, container);
    const { terminated, waiting } = container.state ?? {};
    if (waiting?.reason) summary.status = waiting.reason;
    else if (terminated !== undefined) summary.status = terminatedWord(terminated);
    else if (container.ready && container.state?.running !== undefined) {
      running = true;
      summary.ready += 1;
    }
  }
  // Some of several containers may be done while others still run.
  if (summary.status === "Completed" && running) summary.status = hasCondition(pod, "Ready") ? "Running" : "NotReady";
  return summary;
}

function terminatedWord(terminated: NonNullable<ContainerState["terminated"]>): string {
  if (terminated.reason) return terminated.reason;
  return terminated.signal ? `Signal:${terminated.signal}` : `ExitCode:${terminated.exitCode}`;
}

function countRestarts(summary: Summary, container: ContainerStatus): void {
  summary.restarts += container.restartCount;
  const endedAt = parseTime(container.lastState?.terminated?.finishedAt);
  if (endedAt !== undefined) summary.lastRestartAt = Math.max(summary.lastRestartAt ?? endedAt, endedAt);
}

function formatRestarts({ restarts, lastRestartAt }: Summary, now: number): string {
  if (restarts === 0 || lastRestartAt === undefined) return `${restarts}`;
  return `${restarts} (${formatHumanDuration(now - lastRestartAt)} ago)`;
}

function initContainers(pod: Pod): Container[] {
  return pod.spec?.initContainers ?? [];
}

function hasCondition(pod: Pod, type: string): boolean {
  return pod.status?.conditions?.some((condition) => condition.type === type && condition.status === "True") ?? false;
}
