import type { Pod } from "../../../api/gen/types.ts";
import type { ContainerToReset } from "../plan/restart-all-containers.ts";
import type { PodRuntimeStatus } from "../reading/pod-runtime-status.ts";
import { type RemoveDeps, removeContainerForRestart } from "./remove-pod.ts";
import { type StopDeps, stopContainer } from "./stop-pod.ts";

interface Reset {
  readonly pod: Pod;
  readonly status: PodRuntimeStatus;
  readonly containers: readonly ContainerToReset[];
}

/** Removes the containers one after the other, in the plan's order; what may run is stopped without a grace period first. */
export async function resetContainers(
  deps: StopDeps & RemoveDeps,
  { pod, status, containers }: Reset,
  signal: AbortSignal,
): Promise<void> {
  for (const { container, stop } of containers) {
    const killing = { pod, status, container, message: "killing" };
    if (stop) await stopContainer(deps, killing, { gracePeriodSeconds: 0, signal });
    await removeContainerForRestart(deps, status, container, signal);
  }
}
