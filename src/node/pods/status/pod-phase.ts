import type { Container, ContainerStateTerminated, ContainerStatus, Pod } from "../../../api/gen/types.ts";
import { isRestartableInitContainer, isStaticPod } from "../../../api/pods.ts";
import { restartsAfterExit, restartsFailedInit } from "../../runtime/plan/restart-policy.ts";
import type { PodRuntimeStatus } from "../../runtime/reading/pod-runtime-status.ts";
import { RESTARTING_ALL_CONTAINERS } from "./container-state.ts";
import type { ContainerStatuses } from "./container-statuses.ts";

type PodPhase = "Pending" | "Running" | "Succeeded" | "Failed";

interface PhaseInput {
  pod: Pod;
  runtime: PodRuntimeStatus;
  statuses: ContainerStatuses;
  /** Nothing of the pod runs any more, and nothing will be started. */
  hasTerminated: boolean;
}

/** How many main containers and sidecars are in which state. */
interface Tally {
  unknown: number;
  running: number;
  waiting: number;
  stopped: number;
  /** Those of the stopped ones that start again, by the policy or a rule. */
  restarting: number;
  succeeded: number;
}

/**
 * The phase that follows from the containers alone; upstream's `getPhase` (pkg/kubelet/kubelet_pods.go). Pending until
 * every container has started once; sidecars neither complete a pod nor, once it is initialised, hold it back.
 */
export function computePodPhase({ pod, runtime, statuses, hasTerminated }: PhaseInput): PodPhase {
  const inits = pod.spec?.initContainers ?? [];
  const regular = inits.filter((container) => !isRestartableInitContainer(container));
  const sidecars = inits.filter((container) => isRestartableInitContainer(container));
  const progress = regular.map((container) => initProgress(pod, container, find(statuses.init, container)));
  if (progress.includes("failed")) return "Failed";
  if (progress.includes("pending")) return "Pending";
  const sidecarPending = sidecars.some((container) => isSidecarPending(find(statuses.init, container)));
  if (sidecarPending && !hasMainInSandbox(pod, runtime)) return "Pending";

  const tally: Tally = { unknown: 0, running: 0, waiting: 0, stopped: 0, restarting: 0, succeeded: 0 };
  for (const container of sidecars) tallySidecar(tally, find(statuses.init, container));
  for (const container of pod.spec?.containers ?? []) tallyMain(tally, pod, container, find(statuses.main, container));
  if (tally.waiting > 0 || tally.unknown > 0) return "Pending";
  if (tally.running > 0) return "Running";
  return tally.stopped > 0 ? phaseOfStopped(pod, tally, hasTerminated) : "Pending";
}

function phaseOfStopped(pod: Pod, tally: Tally, hasTerminated: boolean): PodPhase {
  const succeeded = tally.stopped === tally.succeeded;
  // A static pod whose manifest was removed has no final phase: it may come back under the same UID.
  const isFinal = hasTerminated && !isStaticPod(pod);
  if (!isFinal && tally.restarting > 0) return "Running";
  return succeeded ? "Succeeded" : "Failed";
}

/** The progress of an init container; `failed`: for good. */
function initProgress(
  pod: Pod,
  container: Container,
  status: ContainerStatus | undefined,
): "pending" | "restarting" | "failed" | "done" {
  const { running, terminated, waiting } = status?.state ?? {};
  if (running !== undefined) return "pending";
  const ended = terminated ?? (waiting === undefined ? undefined : status?.lastState?.terminated);
  if (ended === undefined) return "pending";
  if (ended.exitCode === 0) return "done";
  const restarts = isPartOfRestart(ended) || restartsFailedInit(pod, container, ended.exitCode);
  return restarts ? "restarting" : "failed";
}

function isSidecarPending(status: ContainerStatus | undefined): boolean {
  if (status === undefined) return false;
  if (status.state?.running !== undefined) return status.started !== true;
  return status.state?.terminated === undefined && status.lastState?.terminated === undefined;
}

/** A sidecar that ended is not counted: it will be restarted, or the pod is over. */
function tallySidecar(tally: Tally, status: ContainerStatus | undefined): void {
  const { running, terminated, waiting } = status?.state ?? {};
  if (running !== undefined) tally.running++;
  else if (terminated !== undefined) return;
  else if (waiting === undefined) tally.unknown++;
  else if (status?.lastState?.terminated === undefined) tally.waiting++;
}

function tallyMain(tally: Tally, pod: Pod, container: Container, status: ContainerStatus | undefined): void {
  const { running, terminated, waiting } = status?.state ?? {};
  const ended = terminated ?? (waiting === undefined ? undefined : status?.lastState?.terminated);
  if (running !== undefined) tally.running++;
  else if (ended !== undefined) {
    tally.stopped++;
    if (isPartOfRestart(ended) || restartsAfterExit(pod, container, ended.exitCode)) tally.restarting++;
    if (terminated?.exitCode === 0) tally.succeeded++;
  } else if (waiting === undefined) tally.unknown++;
  else tally.waiting++;
}

/** The container was ended so that all of its pod's restart, whatever its own policy says. */
function isPartOfRestart({ reason }: ContainerStateTerminated): boolean {
  return reason === RESTARTING_ALL_CONTAINERS;
}

/** Whether the pod was initialised in the sandbox that it has now. */
function hasMainInSandbox(pod: Pod, runtime: PodRuntimeStatus): boolean {
  const sandbox = runtime.sandboxes[0];
  if (sandbox?.state !== "ready") return false;
  const mains = pod.spec?.containers ?? [];
  return runtime.containers.some(
    (container) => container.sandboxId === sandbox.id && mains.some((main) => main.name === container.name),
  );
}

function find(statuses: readonly ContainerStatus[], container: Container): ContainerStatus | undefined {
  return statuses.find((status) => status.name === container.name);
}
