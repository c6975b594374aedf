import type { Container, ContainerStatus, Pod, PodStatus } from "../../../api/gen/types.ts";
import { type ContainerKind, isRestartableInitContainer, isTerminalPhase } from "../../../api/pods.ts";
import { formatTime } from "../../../base/clock.ts";
import { mayRestartAll } from "../../runtime/plan/restart-all-containers.ts";
import { restartsAfterExit, restartsFailedInit } from "../../runtime/plan/restart-policy.ts";
import { settlePodConditions } from "./pod-conditions.ts";

/**
 * The status that may follow a published one. Some parts never go back, even where a computation is mistaken or late: a
 * terminal phase, the end of a container that its policy does not restart, a restart count, the start time.
 *
 * Upstream drops a status that breaks the rule for containers (`checkContainerStateTransition`,
 * pkg/kubelet/status/status_manager.go); here the rest of it is published, because a dropped status hides true news.
 */
export function mergePodStatus(pod: Pod, published: PodStatus, next: PodStatus, now: number): PodStatus {
  const { initContainers = [], containers = [], ephemeralContainers = [] } = pod.spec ?? {};
  const keep = (
    kind: ContainerKind,
    specs: readonly Container[],
    before: readonly ContainerStatus[] = [],
    after: readonly ContainerStatus[] = [],
  ) => after.map((status) => keepMonotonic({ pod, kind, specs, before }, status));
  const merged: PodStatus = {
    ...next,
    startTime: published.startTime ?? next.startTime ?? formatTime(now),
    ...present("initContainerStatuses", next, (after) =>
      keep("init", initContainers, published.initContainerStatuses, after),
    ),
    ...present("containerStatuses", next, (after) => keep("main", containers, published.containerStatuses, after)),
    ...present("ephemeralContainerStatuses", next, (after) =>
      keep("ephemeral", ephemeralContainers, published.ephemeralContainerStatuses, after),
    ),
  };
  const settled = isTerminalPhase(published.phase) ? withVerdictOf(published, merged) : merged;
  if (settled.conditions === undefined) return settled;
  return { ...settled, conditions: settlePodConditions(pod, settled, published, now) };
}

type StatusList = "initContainerStatuses" | "containerStatuses" | "ephemeralContainerStatuses";

function present(
  list: StatusList,
  next: PodStatus,
  keep: (after: readonly ContainerStatus[]) => ContainerStatus[],
): Pick<PodStatus, StatusList> {
  const after = next[list];
  return after === undefined ? {} : { [list]: keep(after) };
}

interface Before {
  pod: Pod;
  kind: ContainerKind;
  specs: readonly Container[];
  before: readonly ContainerStatus[];
}

function keepMonotonic({ pod, kind, specs, before }: Before, next: ContainerStatus): ContainerStatus {
  const published = before.find((status) => status.name === next.name);
  if (published === undefined) return next;
  const restartCount = Math.max(published.restartCount, next.restartCount);
  const ended = published.state?.terminated;
  const isAnother = next.containerID !== undefined && next.containerID !== published.containerID;
  if (ended === undefined || next.state?.terminated !== undefined || isAnother) return { ...next, restartCount };
  const container = specs.find((spec) => spec.name === next.name);
  const mayWait = container !== undefined && restarts({ pod, kind, container }, ended.exitCode);
  return mayWait ? { ...next, restartCount } : { ...published, restartCount };
}

function restarts(subject: { pod: Pod; kind: ContainerKind; container: Container }, exitCode: number): boolean {
  const { pod, kind, container } = subject;
  if (kind === "ephemeral") return false;
  if (mayRestartAll(pod)) return true;
  if (kind === "main") return restartsAfterExit(pod, container, exitCode);
  return isRestartableInitContainer(container) || (exitCode !== 0 && restartsFailedInit(pod, container, exitCode));
}

/** The status with the other one's phase, reason and message. */
export function withVerdictOf(published: PodStatus, status: PodStatus): PodStatus {
  const { phase: _phase, reason: _reason, message: _message, ...rest } = status;
  const { phase, reason, message } = published;
  return {
    ...rest,
    ...(phase === undefined ? {} : { phase }),
    ...(reason === undefined ? {} : { reason }),
    ...(message === undefined ? {} : { message }),
  };
}
