import type {
  Container,
  ContainerState,
  ContainerStateTerminated,
  ContainerStatus,
  Pod,
  PodStatus,
} from "../../../api/gen/types.ts";
import { type ContainerKind, isRestartableInitContainer } from "../../../api/pods.ts";
import { isStartDue } from "../../runtime/plan/restart-policy.ts";
import { mountPathOf } from "../../runtime/reading/image-mounts.ts";
import type { ContainerRuntimeStatus } from "../../runtime/reading/pod-runtime-status.ts";
import { computeVolumeMountStatuses } from "../../storage/volumes/recursive-read-only.ts";
import {
  ENDED_BY_RESTART,
  LOST_WHEN_TERMINATED,
  LOST_WHILE_RUNNING,
  lostState,
  maxMessageBytes,
  RESTARTING_ALL_CONTAINERS,
  runningState,
  terminatedState,
} from "./container-state.ts";
import type { PodStatusInput } from "./pod-status-input.ts";
import { computeResourceStatus } from "./resource-status.ts";

/** The container statuses by kind, each in the order of the pod's spec. */
export interface ContainerStatuses {
  init: ContainerStatus[];
  main: ContainerStatus[];
  ephemeral: ContainerStatus[];
}

/** One container with everything from which its status is computed. */
interface Subject {
  container: Container;
  kind: ContainerKind;
  published: ContainerStatus | undefined;
  newest: ContainerRuntimeStatus | undefined;
  /** The container before the newest, for its end. */
  older: ContainerRuntimeStatus | undefined;
}

/**
 * The container statuses of a pod, in the order of its spec: from the runtime where it knows the container, else from
 * what was published before, else waiting; upstream's `convertToAPIContainerStatuses` (pkg/kubelet/kubelet_pods.go).
 * How a container ended, and how often it was restarted, is never forgotten while the pod lives.
 */
export function computeContainerStatuses(input: PodStatusInput, published: PodStatus): ContainerStatuses {
  const { initContainers = [], containers = [], ephemeralContainers = [] } = input.pod.spec ?? {};
  const statuses = (kind: ContainerKind, specs: readonly Container[], before: readonly ContainerStatus[] = []) =>
    specs.map((container) => {
      const [newest, older] = input.runtime.containers.filter((each) => each.name === container.name);
      const known = before.find((status) => status.name === container.name);
      return computeContainerStatus(input, { container, kind, published: known, newest, older });
    });
  return {
    init: statuses("init", initContainers, published.initContainerStatuses),
    main: statuses("main", containers, published.containerStatuses),
    ephemeral: statuses("ephemeral", ephemeralContainers, published.ephemeralContainerStatuses),
  };
}

function computeContainerStatus(input: PodStatusInput, subject: Subject): ContainerStatus {
  const { newest } = subject;
  const seen = newest === undefined ? statusWithoutTrace(input, subject) : statusFromRuntime(input, subject, newest);
  const waiting = withWaitingReason(input, subject, withVolumeMounts(input, subject, seen));
  return withReadiness(input, subject, withResourceHealth(input, subject, waiting));
}

/**
 * The volume mounts as they were first published: a runtime that was replaced since did not change the container's. Which
 * image one shows is of this container: another may have another.
 */
function withVolumeMounts(input: PodStatusInput, { container, published, newest }: Subject, status: ContainerStatus) {
  const supports = input.supportsRecursiveReadOnly === true;
  const known = published?.volumeMounts ?? computeVolumeMountStatuses(container, supports);
  const isSame = published?.containerID === status.containerID;
  const volumeMounts = known?.map(({ volumeStatus, ...mount }) => {
    const shown = newest?.imageMounts?.find(({ path }) => path === mountPathOf(mount.mountPath));
    if (shown !== undefined) return { ...mount, volumeStatus: { image: { imageRef: shown.imageRef } } };
    return { ...mount, ...(isSame && volumeStatus && { volumeStatus }) };
  });
  return { ...status, ...(volumeMounts !== undefined && { volumeMounts }) };
}

/** The health of a main container's devices, as upstream tells it: of no other kind. */
function withResourceHealth(input: PodStatusInput, { container, kind }: Subject, status: ContainerStatus) {
  const health = kind === "main" ? (input.resourceHealth?.(container) ?? []) : [];
  return { ...status, ...(health.length > 0 && { allocatedResourcesStatus: health }) };
}

function statusFromRuntime(
  input: PodStatusInput,
  { container, published, older }: Subject,
  newest: ContainerRuntimeStatus,
): ContainerStatus {
  const containerID = containerIdOf(input, newest);
  const wasRunning = published?.state?.running !== undefined;
  // The restart after an unknown end is not counted yet; the runtime's own count follows when it happens.
  const lost = newest.state === "unknown" && wasRunning ? 1 : 0;
  return {
    name: newest.name,
    image: newest.image || (container.image ?? ""),
    imageID: newest.imageId,
    containerID,
    ready: false,
    restartCount: Math.max(newest.restartCount, (published?.restartCount ?? 0) + lost),
    state: stateFromRuntime(input, newest, published),
    lastState: lastStateOf(input, { newest, older, published }),
    ...computeResourceStatus(container, newest),
    ...(newest.user && { user: newest.user }),
  };
}

function stateFromRuntime(
  input: PodStatusInput,
  newest: ContainerRuntimeStatus,
  published: ContainerStatus | undefined,
): ContainerState {
  const containerId = containerIdOf(input, newest);
  switch (newest.state) {
    case "running":
      return runningState(newest);
    case "exited":
      return { terminated: terminatedState(newest, { containerId, maxMessageBytes: maxMessageBytes(input.pod) }) };
    case "created":
    case "unknown": {
      const before = published?.state;
      if (newest.state === "unknown" && before?.running !== undefined) {
        return { terminated: { ...lostState(LOST_WHEN_TERMINATED), containerID: containerId } };
      }
      // A container that was published as ended does not wait again before there is a new one.
      const ended = published?.containerID === containerId ? before?.terminated : undefined;
      return ended === undefined ? { waiting: {} } : { terminated: ended };
    }
  }
}

/**
 * The end of the container before this one: from the runtime, else as it was published when the runtime still knew it.
 */
function lastStateOf(
  input: PodStatusInput,
  known: Pick<Subject, "older" | "published"> & { newest: ContainerRuntimeStatus },
): ContainerState {
  const { newest, older, published } = known;
  const containerID = containerIdOf(input, newest);
  const remembered = published?.lastState?.terminated;
  // A container that waits to be restarted has its own end published as its last state.
  const isOwn = remembered?.containerID === containerID;
  if (isOwn && newest.state !== "exited") return { terminated: remembered };
  if (older?.state === "exited") {
    const options = { containerId: containerIdOf(input, older), maxMessageBytes: maxMessageBytes(input.pod) };
    return { terminated: terminatedState(older, options) };
  }
  const ended = published?.containerID === containerID ? undefined : endOf(input, published);
  const terminated = ended ?? (isOwn ? undefined : remembered);
  return terminated === undefined ? {} : { terminated };
}

/** The published end of a container that is gone; one that ran was ended for a restart of all containers, where one began. */
function endOf(input: PodStatusInput, published: ContainerStatus | undefined): ContainerStateTerminated | undefined {
  const { terminated, running } = published?.state ?? {};
  return terminated ?? (running !== undefined && isAllRestarting(input) ? ENDED_BY_RESTART : undefined);
}

/** Whether the published status says that all containers restart, which is told before the first of them is removed. */
function isAllRestarting({ pod, previous }: PodStatusInput): boolean {
  const conditions = (previous ?? pod.status)?.conditions ?? [];
  return conditions.some(({ type, status }) => type === "AllContainersRestarting" && status === "True");
}

function statusWithoutTrace(input: PodStatusInput, subject: Subject): ContainerStatus {
  const { container, kind, published } = subject;
  if (kind !== "ephemeral" && published?.state?.waiting === undefined && published && isAllRestarting(input)) {
    return waitingForRestart(container, published);
  }
  if (published?.state?.waiting?.reason === RESTARTING_ALL_CONTAINERS) return published;
  if (published?.state?.terminated !== undefined) return published;
  const waiting: ContainerStatus = {
    name: container.name,
    image: container.image ?? "",
    imageID: "",
    ready: false,
    restartCount: published?.restartCount ?? 0,
    state: defaultState(input.pod),
    lastState: published?.lastState ?? {},
  };
  if (isPassedUnseen(input, subject)) {
    return { ...waiting, state: { terminated: PASSED_UNSEEN } };
  }
  if (published?.state?.running === undefined || published.lastState?.terminated !== undefined) return waiting;
  // The container ran and is gone. It does wait, but without an end on record the pod would look as if it had never
  // run.
  const isDeleted = input.pod.metadata?.deletionTimestamp !== undefined;
  return {
    ...waiting,
    restartCount: waiting.restartCount + (isDeleted ? 0 : 1),
    lastState: { terminated: lostState(LOST_WHILE_RUNNING) },
  };
}

/** A container that was removed so that its pod begins anew, and has not been made again. */
function waitingForRestart({ name, image = "" }: Container, { state, restartCount }: ContainerStatus): ContainerStatus {
  const { reason, message = "" } = ENDED_BY_RESTART;
  return {
    name,
    image,
    imageID: "",
    ready: false,
    restartCount: restartCount + 1,
    state: { waiting: { ...(reason !== undefined && { reason }), message } },
    lastState: { terminated: state?.terminated ?? ENDED_BY_RESTART },
  };
}

const PASSED_UNSEEN = {
  exitCode: 0,
  reason: "Completed",
  message:
    "Unable to get init container status from container runtime and pod has been initialized, treat it as exited normally",
};

function defaultState(pod: Pod): ContainerState {
  const hasInit = (pod.spec?.initContainers?.length ?? 0) > 0;
  return { waiting: { reason: hasInit ? "PodInitializing" : "ContainerCreating" } };
}

/** The state of an init container without a trace whose pod has main containers: it must have succeeded. */
function isPassedUnseen(input: PodStatusInput, { container, kind, newest }: Subject): boolean {
  if (kind !== "init" || isRestartableInitContainer(container) || newest !== undefined) return false;
  const mains = input.pod.spec?.containers ?? [];
  return input.runtime.containers.some(
    (container) => container.state !== "unknown" && mains.some((main) => main.name === container.name),
  );
}

/** A container that will be started (again) waits for something; its end, if it had one, is its last state. */
function withWaitingReason(input: PodStatusInput, subject: Subject, status: ContainerStatus): ContainerStatus {
  const { container, kind, newest } = subject;
  const why = input.waiting.get(container.name);
  if (why === undefined || input.workerPhase !== "syncing" || isPassedUnseen(input, subject)) return status;
  if (!isStartDue({ pod: input.pod, container, kind, last: newest })) return status;
  const ended = status.state?.terminated;
  const { containerID: _gone, resources: _had, allocatedResources: _granted, ...known } = status;
  const anew = { ...known, image: container.image ?? "", imageID: "" };
  return {
    // Where an end is only remembered, its container cannot be mistaken for the next one.
    ...(newest === undefined ? anew : status),
    state: { waiting: { reason: why.reason, ...(why.message === "" ? {} : { message: why.message }) } },
    lastState: ended === undefined ? (status.lastState ?? {}) : { terminated: ended },
  };
}

/** `ready` of an init container that is no sidecar means that it is done. */
function withReadiness(input: PodStatusInput, subject: Subject, status: ContainerStatus): ContainerStatus {
  const { container, kind, newest } = subject;
  if (kind === "ephemeral") return status;
  const isRunning = status.state?.running !== undefined && newest !== undefined;
  const probed = isRunning ? (input.readiness?.(container, newest.id) ?? { started: true, ready: true }) : undefined;
  const started = probed?.started ?? false;
  if (kind === "init" && !isRestartableInitContainer(container)) {
    return { ...status, started, ready: status.state?.terminated?.exitCode === 0 };
  }
  return { ...status, started, ready: started && (probed?.ready ?? false) };
}

function containerIdOf(input: PodStatusInput, container: ContainerRuntimeStatus): string {
  return `${input.runtimeName}://${container.id}`;
}
