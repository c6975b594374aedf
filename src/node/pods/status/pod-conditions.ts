import type { Container, ContainerStatus, Pod, PodCondition, PodStatus } from "../../../api/gen/types.ts";
import { isRestartableInitContainer } from "../../../api/pods.ts";
import { formatTime } from "../../../base/clock.ts";

interface ConditionsInput {
  pod: Pod;
  /** The status that the conditions are for: its phase and its container statuses. */
  status: PodStatus;
  published: PodStatus;
  /** There is a sandbox with a network in which containers can be started. */
  readyToStartContainers: boolean;
  /** Whether all containers restart, because one exited by a rule that says so; undefined for a pod without such rules. */
  allRestarting?: boolean | undefined;
  /** How far a resize is. */
  resize?: readonly PodCondition[] | undefined;
  /** Why the node ends the pod for its own sake; undefined where it does not. */
  disruption: string | undefined;
  now: number;
}

/** The reason of a disruption that the node brings about and no other component (upstream: types.go). */
const TERMINATION_BY_KUBELET = "TerminationByKubelet";

type Verdict = Pick<PodCondition, "status" | "reason" | "message">;

const TRUE: Verdict = { status: "True" };

const OWNED_CONDITIONS: readonly string[] = [
  "PodReadyToStartContainers",
  "Initialized",
  "Ready",
  "ContainersReady",
  "PodScheduled",
  "AllContainersRestarting",
  "PodResizePending",
  "PodResizeInProgress",
];

/** The conditions of others first, unchanged, then the node's own (upstream: pkg/kubelet/status/generate.go). */
export function computePodConditions(input: ConditionsInput): PodCondition[] {
  const { pod, published, status } = input;
  const others = (pod.status?.conditions ?? []).filter((condition) => !isOwnedCondition(condition.type));
  // An eviction or a shutdown sets the condition once; it cannot be computed again.
  const disruption =
    input.disruption === undefined
      ? published.conditions?.find((condition) => condition.type === "DisruptionTarget")
      : disruptionByNode(input.disruption);
  const kept =
    disruption === undefined
      ? others
      : [...others.filter((condition) => condition.type !== disruption.type), disruption];
  const containersReady = containersReadyVerdict(pod, status);
  const own: Array<[type: string, verdict: Verdict]> = [
    ["PodReadyToStartContainers", input.readyToStartContainers ? TRUE : { status: "False" }],
    ["Initialized", initializedVerdict(input)],
    ["Ready", readyVerdict(pod, kept, containersReady)],
    ["ContainersReady", containersReady],
    ["PodScheduled", TRUE],
  ];
  if (input.allRestarting !== undefined) own.push(["AllContainersRestarting", restartingVerdict(input)]);
  const conditions = [...(input.resize ?? []), ...own.map(([type, verdict]) => ({ type, ...verdict }))];
  return [...kept, ...conditions.map((condition) => withTransition(published, condition, input.now))];
}

/** The condition by which the node says that it ends the pod, or ended it, for its own sake. */
export function findNodeDisruption(status: PodStatus): PodCondition | undefined {
  return status.conditions?.find(
    ({ type, reason }) => type === "DisruptionTarget" && reason === TERMINATION_BY_KUBELET,
  );
}

function disruptionByNode(message: string): PodCondition {
  return { type: "DisruptionTarget", status: "True", reason: TERMINATION_BY_KUBELET, message };
}

/**
 * The conditions of a status whose phase or containers were changed after its conditions were computed: readiness is
 * judged again, and times are kept from `published` where nothing changed.
 */
export function settlePodConditions(pod: Pod, status: PodStatus, published: PodStatus, now: number): PodCondition[] {
  const conditions = status.conditions ?? [];
  const containersReady = containersReadyVerdict(pod, status);
  const ready = readyVerdict(pod, conditions, containersReady);
  return conditions.map((condition) => {
    const { type } = condition;
    if (!isOwnedCondition(type)) return condition;
    if (type === "Ready") return withTransition(published, judgedAgain(condition, ready), now);
    if (type === "ContainersReady") return withTransition(published, judgedAgain(condition, containersReady), now);
    return withTransition(published, condition, now);
  });
}

function judgedAgain({ type, status, lastTransitionTime }: PodCondition, verdict: Verdict): PodCondition {
  const hasTime = verdict.status === status && lastTransitionTime !== undefined;
  return { type, ...verdict, ...(hasTime ? { lastTransitionTime } : {}) };
}

/** True for a condition that only a kubelet writes; upstream's `PodConditionByKubelet`. */
export function isOwnedCondition(type: string): boolean {
  return OWNED_CONDITIONS.includes(type);
}

/** The time of a condition moves only when its status does, not with its reason or message. */
function withTransition(published: PodStatus, condition: PodCondition, now: number): PodCondition {
  const before = published.conditions?.find(({ type }) => type === condition.type);
  const kept = before?.status === condition.status ? before.lastTransitionTime : undefined;
  return { ...condition, lastTransitionTime: kept ?? condition.lastTransitionTime ?? formatTime(now) };
}

/** Upstream's words (pkg/kubelet/status/generate.go). */
function restartingVerdict({ allRestarting, status }: ConditionsInput): Verdict {
  if (status.phase === "Failed") return { status: "False", reason: "PodFailed" };
  if (allRestarting !== true) return { status: "False" };
  return {
    status: "True",
    reason: "RestartAllContainersStarted",
    message: "container exited with restart policy rule",
  };
}

function initializedVerdict({ pod, status, published, allRestarting }: ConditionsInput): Verdict {
  const inits = pod.spec?.initContainers ?? [];
  const statuses = status.initContainerStatuses ?? [];
  const unknown = inits.filter((container) => find(statuses, container) === undefined);
  const incomplete = inits.filter((container) => {
    const known = find(statuses, container);
    if (known === undefined) return false;
    return isRestartableInitContainer(container) ? known.started !== true : !known.ready;
  });
  if (status.phase === "Succeeded" && unknown.length === 0) return { status: "True", reason: "PodCompleted" };
  // Once a main container has run, sidecars that restart do not undo the initialisation.
  const mainStarted = (pod.spec?.containers ?? []).some((container) => {
    const state = find(status.containerStatuses ?? [], container)?.state;
    return state?.running !== undefined || state?.terminated !== undefined;
  });
  if (mainStarted) return TRUE;
  // A restart of all containers runs init containers again, which does not undo the initialisation.
  const wasInitialized = published.conditions?.some((each) => each.type === "Initialized" && each.status === "True");
  if (allRestarting !== undefined && wasInitialized) return TRUE;
  return notYet("ContainersNotInitialized", [
    ["containers with unknown status", unknown],
    ["containers with incomplete status", incomplete],
  ]);
}

function containersReadyVerdict(pod: Pod, status: PodStatus): Verdict {
  const sidecars = (pod.spec?.initContainers ?? []).filter(isRestartableInitContainer);
  const serving = [...sidecars, ...(pod.spec?.containers ?? [])];
  const statuses = [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])];
  const unknown = serving.filter((container) => find(statuses, container) === undefined);
  const unready = serving.filter((container) => find(statuses, container)?.ready === false);
  if (status.phase === "Failed") return { status: "False", reason: "PodFailed" };
  if (status.phase === "Succeeded" && unknown.length === 0) return { status: "False", reason: "PodCompleted" };
  return notYet("ContainersNotReady", [
    ["containers with unknown status", unknown],
    ["containers with unready status", unready],
  ]);
}

function readyVerdict(pod: Pod, conditions: readonly PodCondition[], containersReady: Verdict): Verdict {
  if (containersReady.status !== "True") return containersReady;
  const complaints = (pod.spec?.readinessGates ?? []).flatMap(({ conditionType }) => {
    const gate = conditions.find(({ type }) => type === conditionType);
    if (gate?.status === "True") return [];
    const name = JSON.stringify(conditionType);
    if (gate === undefined) return [`corresponding condition of pod readiness gate ${name} does not exist.`];
    return [`the status of pod readiness gate ${name} is not "True", but ${gate.status}`];
  });
  if (complaints.length === 0) return TRUE;
  return { status: "False", reason: "ReadinessGatesNotReady", message: complaints.join(", ") };
}

function notYet(reason: string, complaints: Array<[what: string, containers: Container[]]>): Verdict {
  const open = complaints.filter(([, containers]) => containers.length > 0);
  if (open.length === 0) return TRUE;
  const message = open.map(([what, containers]) => `${what}: [${containers.map(({ name }) => name).join(" ")}]`);
  return { status: "False", reason, message: message.join(", ") };
}

function find(statuses: readonly ContainerStatus[], container: Container): ContainerStatus | undefined {
  return statuses.find((status) => status.name === container.name);
}
