import type { ContainerRuntimeStatus, PodRuntimeStatus, SandboxRuntimeStatus } from "../reading/pod-runtime-status.ts";
import type { PodActions } from "./pod-actions.ts";

/**
 * Finds the dead containers to remove. Of each name the newest container stays in any state, and one dead one before it
 * (upstream's MaxPerPodContainer of 1). A container that this plan starts counts as the newest already.
 */
export function planContainerRemovals(status: PodRuntimeStatus, actions: PodActions): ContainerRuntimeStatus[] {
  const starting = new Set(actions.containersToStart.map(({ container }) => container.name));
  const seen = new Map<string, number>();
  return status.containers.filter((container) => {
    const newer = seen.get(container.name) ?? (starting.has(container.name) ? 1 : 0);
    seen.set(container.name, newer + 1);
    return newer >= 2 && container.state === "exited";
  });
}

/** Finds the stopped sandboxes to remove: all but the newest that hold no container which is kept. */
export function planSandboxRemovals(
  status: PodRuntimeStatus,
  removals: readonly ContainerRuntimeStatus[],
): SandboxRuntimeStatus[] {
  const kept = status.containers.filter((container) => !removals.includes(container));
  return status.sandboxes
    .slice(1)
    .filter(({ id, state }) => state === "notready" && !kept.some(({ sandboxId }) => sandboxId === id));
}
