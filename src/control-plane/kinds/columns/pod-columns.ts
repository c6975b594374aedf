import type { ContainerStatus, Pod, PodCondition, PodStatus } from "../../../api/gen/types.ts";
import { isRestartableInitContainer, isTerminalPhase } from "../../../api/pods.ts";
import { formatHumanDuration } from "../../../base/human-duration.ts";
import type { CellAt } from "../../ports/resource-kind.ts";
import { orNone } from "./cell-text.ts";
import { AGE, columnsOf, NAME } from "./column.ts";

/** The summary of a pod for an operator, as upstream's printer computes it. */
interface PodSummary {
  readonly ready: number;
  readonly containers: number;
  readonly status: string;
  readonly restarts: number;
  /**
   * When the container that was restarted last had ended; undefined when none was restarted or the time is not known.
   */
  readonly restartedAt: string | undefined;
}

/** The sums over the containers of one kind. */
interface Tally {
  ready: number;
  restarts: number;
  restartedAt: string | undefined;
}

interface Initialization {
  /** The sums over the init containers up to and including the first that is not done. */
  readonly all: Tally;
  /** The sums over the sidecars among them. The restarts of the others are forgotten once the pod runs. */
  readonly sidecars: Tally;
  /** The reason for which the pod waits; undefined when initialization is over. */
  readonly waitsFor: string | undefined;
}

/** Pods, as `kubectl get pods` shows them. */
export const POD_COLUMNS = columnsOf("Pod", [
  NAME,
  {
    name: "Ready",
    description: "How many of the pod's containers are ready, and how many there are.",
    cell: (pod) => {
      const { ready, containers } = summarizePod(pod);
      return `${ready}/${containers}`;
    },
  },
  {
    name: "Status",
    description: "The pod's phase, or what keeps it from running.",
    cell: (pod) => summarizePod(pod).status,
  },
  {
    name: "Restarts",
    description: "How often the pod's containers were restarted, and how long ago the last time was.",
    cell: (pod) => {
      const { restarts, restartedAt } = summarizePod(pod);
      return restarts === 0 || restartedAt === undefined ? `${restarts}` : restartsText(restarts, restartedAt);
    },
  },
  AGE,
  {
    name: "IP",
    wide: true,
    description: "The pod's first address.",
    cell: ({ status }) => orNone(status?.podIPs?.[0]?.ip ?? status?.podIP),
  },
  {
    name: "Node",
    wide: true,
    description: "The node that the pod was given to.",
    cell: ({ spec }) => orNone(spec?.nodeName),
  },
  {
    name: "Nominated Node",
    wide: true,
    description: "The node on which room is being made for the pod.",
    cell: ({ status }) => orNone(status?.nominatedNodeName),
  },
  {
    name: "Readiness Gates",
    wide: true,
    description: "How many of the further conditions that the pod's readiness depends on are true.",
    cell: readinessGates,
  },
]);

/**
 * The cell of the restarts. The function stands apart from the code that reads the pod, so that it does not keep the
 * pod in memory.
 */
function restartsText(restarts: number, restartedAt: string): CellAt {
  const since = Date.parse(restartedAt);
  return (now) => `${restarts} (${formatHumanDuration(now - since)} ago)`;
}

function readinessGates({ spec, status }: Pod): string {
  const gates = spec?.readinessGates ?? [];
  const passed = gates.filter(({ conditionType }) => isTrue(status, conditionType));
  return gates.length === 0 ? "<none>" : `${passed.length}/${gates.length}`;
}

function conditionOf(status: PodStatus | undefined, type: string): PodCondition | undefined {
  return status?.conditions?.find((condition) => condition.type === type);
}

function isTrue(status: PodStatus | undefined, type: string): boolean {
  return conditionOf(status, type)?.status === "True";
}

function summarizePod(pod: Pod): PodSummary {
  const { spec, status } = pod;
  const sidecars = (spec?.initContainers ?? []).filter(isRestartableInitContainer);
  const containers = (spec?.containers ?? []).length + sidecars.length;
  const initialization = tallyInitialization(pod);
  const { waitsFor } = initialization;
  const phase = isSchedulingGated(status) ? "SchedulingGated" : status?.reason || status?.phase || "";
  if (waitsFor !== undefined && !isTrue(status, "Initialized")) {
    const { ready, restarts, restartedAt } = initialization.all;
    return { ready, containers, status: deletionStatus(pod) ?? waitsFor, restarts, restartedAt };
  }
  const tally = { ...initialization.sidecars, ready: initialization.all.ready };
  const reason = tallyMain(tally, status) ?? waitsFor ?? phase;
  const { ready, restarts, restartedAt } = tally;
  const shown = reason === "Completed" && ready > initialization.all.ready ? stillRunning(status) : reason;
  return { ready, containers, status: deletionStatus(pod) ?? shown, restarts, restartedAt };
}

function isSchedulingGated(status: PodStatus | undefined): boolean {
  return conditionOf(status, "PodScheduled")?.reason === "SchedulingGated";
}

/** The status of a pod of which one container is done and another runs, so that the pod is not complete. */
function stillRunning(status: PodStatus | undefined): string {
  return isTrue(status, "Ready") ? "Running" : "NotReady";
}

/** The status of a pod that is being deleted, whatever its containers do. */
function deletionStatus({ metadata, status }: Pod): string | undefined {
  if (metadata?.deletionTimestamp === undefined) return undefined;
  if (status?.reason === "NodeLost") return "Unknown";
  return isTerminalPhase(status?.phase) ? undefined : "Terminating";
}

function tallyInitialization({ spec, status }: Pod): Initialization {
  const all: Tally = { ready: 0, restarts: 0, restartedAt: undefined };
  const sidecars: Tally = { ready: 0, restarts: 0, restartedAt: undefined };
  const declared = spec?.initContainers ?? [];
  for (const [index, container] of (status?.initContainerStatuses ?? []).entries()) {
    const isSidecar = declared.some((each) => each.name === container.name && isRestartableInitContainer(each));
    addRestarts(all, container);
    if (isSidecar) addRestarts(sidecars, container);
    if (container.state?.terminated?.exitCode === 0) continue;
    if (isSidecar && container.started) {
      if (container.ready) all.ready += 1;
      continue;
    }
    return { all, sidecars, waitsFor: `Init:${blockedBy(container) ?? `${index}/${declared.length}`}` };
  }
  return { all, sidecars, waitsFor: undefined };
}

/** Why an init container that is not done is blocked; undefined when it simply needs its time. */
function blockedBy({ state }: ContainerStatus): string | undefined {
  if (state?.terminated) return endOf(state.terminated);
  const reason = state?.waiting?.reason;
  return reason === "" || reason === "PodInitializing" ? undefined : reason;
}

/** Adds the main containers to the sums. Returns the status of the first container that has one to show. */
function tallyMain(tally: Tally, status: PodStatus | undefined): string | undefined {
  let reason: string | undefined;
  for (const container of (status?.containerStatuses ?? []).toReversed()) {
    addRestarts(tally, container);
    const { waiting, terminated, running } = container.state ?? {};
    if (waiting?.reason) reason = waiting.reason;
    else if (terminated) reason = endOf(terminated);
    else if (container.ready && running) tally.ready += 1;
  }
  return reason;
}

function endOf({ reason, signal, exitCode }: { reason?: string; signal?: number; exitCode: number }): string {
  return reason || (signal ? `Signal:${signal}` : `ExitCode:${exitCode}`);
}

function addRestarts(tally: Tally, { restartCount, lastState }: ContainerStatus): void {
  tally.restarts += restartCount;
  const ended = lastState?.terminated?.finishedAt;
  if (ended === undefined) return;
  const isLater = tally.restartedAt === undefined || Date.parse(ended) > Date.parse(tally.restartedAt);
  if (isLater) tally.restartedAt = ended;
}
