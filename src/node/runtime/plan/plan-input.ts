import type { Container, Pod } from "../../../api/gen/types.ts";
import type { ContainerKind } from "../../../api/pods.ts";
import type { PodResourceInfo } from "../../resources/records/pod-resource-info.ts";
import { type ContainerRuntimeStatus, findContainer, type PodRuntimeStatus } from "../reading/pod-runtime-status.ts";
import type { ContainerToKill, PodActions } from "./pod-actions.ts";

export interface PlanInput {
  pod: Pod;
  status: PodRuntimeStatus;
  /** The time in milliseconds since the epoch, as the runtime's times are. */
  now: number;
  /** When a container that last ended at `endedAt` may start again; undefined: at once. */
  waitUntil(container: Container, endedAt: number): number | undefined;
  /** Whether a running container was made from this definition, by the hash that was recorded with it. */
  isSameContainer(container: Container, recordedHash: string): boolean;
  /** What the pod's containers have got of what the node has granted; undefined: as much as they ask for. */
  actuated?: PodResourceInfo | undefined;
  /** What the probes say of a running container. */
  verdictOf(container: Container, containerId: string): PlannedVerdict;
}

/** What the probes have found of one run of a container, as far as a plan heeds it. */
interface PlannedVerdict {
  /** Its startup probe has succeeded, or it has none. */
  started: boolean;
  /** The probe that failed, so that the container must be stopped; undefined: none. */
  failed: "startup" | "liveness" | undefined;
}

/**
 * A container that a probe has found dead is stopped within the probe's own grace period, where it has one (upstream:
 * `setTerminationGracePeriod`, pkg/kubelet/kuberuntime/kuberuntime_container.go).
 */
export function killFailed(
  container: Container,
  { id, name }: ContainerRuntimeStatus,
  { failed, message }: { failed: "startup" | "liveness"; message: string },
): ContainerToKill {
  const gracePeriodSeconds = container[`${failed}Probe`]?.terminationGracePeriodSeconds;
  return { id, name, message, ...(gracePeriodSeconds !== undefined && { gracePeriodSeconds }) };
}

/** Adds a container that must start to the plan: to be started, or to wait for its back-off. */
export function addStart(actions: PodActions, input: PlanInput, container: Container, kind: ContainerKind): void {
  const previousEndedAt = findEnd(input.status, container.name);
  const until = previousEndedAt === undefined ? undefined : input.waitUntil(container, previousEndedAt);
  if (until !== undefined && until > input.now) {
    actions.backingOff.push({ container, until });
    return;
  }
  const last = findContainer(input.status, container.name);
  const restartCount = last === undefined ? 0 : last.restartCount + 1;
  actions.containersToStart.push({ container, kind, restartCount, previousEndedAt });
}

/** The stop of a container in an unknown state. It may still run, and two containers of one name must not. */
export function killUnknown(last: ContainerRuntimeStatus, what: "Container" | "Init container"): ContainerToKill {
  return { id: last.id, name: last.name, message: `${what} is in "unknown" state, try killing it before restart` };
}

function findEnd(status: PodRuntimeStatus, name: string): number | undefined {
  const ended = status.containers.find((container) => container.name === name && container.state === "exited");
  if (ended === undefined) return undefined;
  // A runtime that failed to start the container may give no end time; without one the retries would have no back-off.
  return ended.finishedAt > 0 ? ended.finishedAt : ended.createdAt;
}
