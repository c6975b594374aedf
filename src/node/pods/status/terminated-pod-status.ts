import type { ContainerStatus, Pod, PodStatus } from "../../../api/gen/types.ts";
import { isStaticPod, isTerminalPhase } from "../../../api/pods.ts";
import { LOST_WHEN_TERMINATED, lostState } from "./container-state.ts";

/**
 * The last status of a pod of which nothing runs any more. Containers whose end was not seen count as failed, so that a
 * lost result never looks like a success; those that were never started stay as they are. The phase becomes terminal,
 * except for static pods, which may come back (upstream: `TerminatePod`, pkg/kubelet/status/status_manager.go).
 */
export function computeTerminatedPodStatus(pod: Pod, published: PodStatus): PodStatus {
  const { containerStatuses = [], initContainerStatuses = [] } = published;
  const attempted = countAttempted(initContainerStatuses);
  return {
    ...published,
    phase: isStaticPod(pod) || isTerminalPhase(published.phase) ? (published.phase ?? "Pending") : "Failed",
    ...(published.containerStatuses === undefined
      ? {}
      : { containerStatuses: wasInitialized(pod, published) ? containerStatuses.map(ended) : containerStatuses }),
    ...(published.initContainerStatuses === undefined
      ? {}
      : {
          initContainerStatuses: initContainerStatuses.map((status, index) =>
            index < attempted ? ended(status) : status,
          ),
        }),
  };
}

function ended(status: ContainerStatus): ContainerStatus {
  if (status.state?.terminated !== undefined) return status;
  return { ...status, ready: false, started: false, state: { terminated: lostState(LOST_WHEN_TERMINATED) } };
}

/** Whether there is evidence that main containers were started, or that they may have been. */
function wasInitialized(pod: Pod, published: PodStatus): boolean {
  if ((pod.spec?.initContainers?.length ?? 0) === 0) return true;
  if ((published.containerStatuses ?? []).some(hasStarted)) return true;
  const lastInit = published.initContainerStatuses?.at(-1);
  return [lastInit?.state, lastInit?.lastState].some((state) => state?.terminated?.exitCode === 0);
}

/**
 * The init containers up to the last one that left a trace; at least the first, because the pod must have failed
 * there.
 */
function countAttempted(statuses: readonly ContainerStatus[]): number {
  return Math.max(1, statuses.findLastIndex(hasStarted) + 1);
}

function hasStarted(status: ContainerStatus): boolean {
  return status.state?.waiting === undefined || status.lastState?.terminated !== undefined;
}
