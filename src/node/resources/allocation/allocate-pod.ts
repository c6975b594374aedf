import type { Container, Pod } from "../../../api/gen/types.ts";
import { isRestartableInitContainer, podUid } from "../../../api/pods.ts";
import type { ContainerDevices } from "../devices/container-devices.ts";
import type { AllocationRefusal } from "./pod-allocation.ts";

/** The containers for which something is given, in the order in which they start. */
export function listAllocatedContainers({ spec }: Pod): Container[] {
  return [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])];
}

/** Gives each container of the pod its devices. What init containers have, those after them get again. */
export async function allocatePod(
  { devices }: { readonly devices: Pick<ContainerDevices, "allocate"> },
  pod: Pod,
  signal: AbortSignal,
): Promise<AllocationRefusal | undefined> {
  const predecessors: string[] = [];
  const isInit = new Set(pod.spec?.initContainers);
  for (const container of listAllocatedContainers(pod)) {
    const user = { podUid: podUid(pod), container };
    const error = await devices.allocate(user, { predecessors, numaNodes: undefined }, signal);
    if (error !== undefined) return unexpected(error);
    // A sidecar runs beside the containers after it, and shares nothing with them.
    if (isInit.has(container) && !isRestartableInitContainer(container)) predecessors.push(container.name);
  }
  return undefined;
}

/** Upstream's words for whatever keeps a pod from what it asks for (pkg/kubelet/cm/admission/errors.go). */
function unexpected(error: string): AllocationRefusal {
  return {
    reason: "UnexpectedAdmissionError",
    message: `Allocate failed due to ${error}, which is unexpected`,
  };
}
