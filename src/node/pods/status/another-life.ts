import type { ContainerStatus, PodStatus } from "../../../api/gen/types.ts";
import { isTerminalPhase } from "../../../api/pods.ts";

/**
 * Whether `told` is of an earlier life of the pod that `known` is of: what it says cannot be followed by that. Only static
 * pods live more than once under their UID. The API server lets no pod begin anew (`ValidateContainerStateTransition`,
 * pkg/apis/core/validation), so another object has to tell of it.
 */
export function isAnotherLife(told: PodStatus, known: PodStatus): boolean {
  if (isTerminalPhase(told.phase) && !isTerminalPhase(known.phase)) return true;
  const counts = new Map(listContainers(known).map(({ name, restartCount }) => [name, restartCount]));
  return listContainers(told).some(({ name, restartCount }) => restartCount > (counts.get(name) ?? restartCount));
}

function listContainers({ initContainerStatuses = [], containerStatuses = [] }: PodStatus): ContainerStatus[] {
  return [...initContainerStatuses, ...containerStatuses];
}
