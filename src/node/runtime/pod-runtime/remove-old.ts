import { messageOf } from "../../../base/errors.ts";
import type { Timeline } from "../../../base/timeline.ts";
import { planContainerRemovals, planSandboxRemovals } from "../plan/container-removals.ts";
import type { PodActions } from "../plan/pod-actions.ts";
import type { PodRuntimeStatus } from "../reading/pod-runtime-status.ts";
import type { SyncOptions } from "./pod-runtime.ts";
import { type RemoveDeps, removeContainerAndLog, removeSandbox } from "./remove-pod.ts";

interface RemoveOldDeps extends RemoveDeps {
  readonly timeline: Pick<Timeline, "record">;
}

interface SyncedPod {
  readonly status: PodRuntimeStatus;
  readonly actions: PodActions;
  readonly options: Pick<SyncOptions, "signal" | "beforeChange">;
}

/**
 * Removes old dead containers, of which one of each name is kept for its state and log, and sandboxes without containers.
 * Returns whether there were any. What cannot be removed is told in an event, and the next sync tries it again.
 */
export async function removeOld(
  deps: RemoveOldDeps,
  { status, actions, options: { signal, beforeChange } }: SyncedPod,
): Promise<boolean> {
  const oldContainers = planContainerRemovals(status, actions);
  const oldSandboxes = planSandboxRemovals(status, oldContainers);
  if (oldContainers.length + oldSandboxes.length === 0) return false;
  beforeChange();
  const say = (what: string, error: unknown) => {
    signal.throwIfAborted();
    const message = `could not remove ${what}, will be tried again: ${messageOf(error)}`;
    deps.timeline.record(status, { type: "Warning", reason: "FailedRemoval", message });
  };
  for (const container of oldContainers) {
    await removeContainerAndLog(deps, status, container, signal).catch((error: unknown) => {
      say(`a dead container of ${container.name}`, error);
    });
  }
  for (const { id } of oldSandboxes) {
    await removeSandbox(deps.runtime, id, signal).catch((error: unknown) => say("an old sandbox", error));
  }
  return true;
}
