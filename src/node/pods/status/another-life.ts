import type { ContainerStatus, PodStatus } from "../../../api/gen/types.ts";
import { isTerminalPhase } from "../../../api/pods.ts";

/**
 * Whether `told` is the status of an earlier life of the pod than `known` is: a pod cannot come from the one to the
 * other. Only static pods live more than once under their UID. The API server lets no pod begin anew
 * (`ValidateContainerStateTransition`, pkg/apis/core/validation), so the new life needs another object there.
 */
export function isAnotherLife(told: PodStatus, known: PodStatus): boolean {
  if (isTerminalPhase(told.phase) && !isTerminalPhase(known.phase)) return true;
  const counts = new Map(listContainers(known).map(({ name, restartCount }) => [name, restartCount]));
  return listContainers(told).some(({ name, restartCount }) => restartCount > (counts.get(name) ?? restartCount));
}

function listContainers({ initContainerStatuses = [], containerStatuses = [] }: PodStatus): ContainerStatus[] {
  return [...initContainerStatuses, ...containerStatuses];
}
