import type { Container, Pod } from "../../../api/gen/types.ts";
import { isRestartableInitContainer } from "../../../api/pods.ts";
import { computeQosClass } from "../../../api/qos.ts";
import { quantityValue } from "../../../api/quantity.ts";
import { hasPodLevelResources } from "../../../api/resources.ts";
import { isHugepagesResource } from "../capacity/node-capacity.ts";

/** Bytes by resource; none that is 0. */
export type RequestedMemory = ReadonlyMap<string, number>;

const NOTHING: RequestedMemory = new Map();

/**
 * The memory and huge pages that a container has for itself: what it asks for, where the pod is Guaranteed. Pods with
 * resources of their own share all memory, as they do upstream without `PodLevelResourceManagers`.
 */
export function requestedMemoryOf(pod: Pod, { resources }: Pick<Container, "resources">): RequestedMemory {
  if (computeQosClass(pod) !== "Guaranteed" || hasPodLevelResources(pod)) return NOTHING;
  const amounts = Object.entries({ ...resources?.limits, ...resources?.requests });
  const memory = amounts.filter(([name]) => name === "memory" || isHugepagesResource(name));
  return new Map(memory.map(([name, amount]) => [name, Number(quantityValue(amount))] as const).filter(isSome));
}

/** What the pod has for itself at most, at any moment of its life. */
export function requestedMemoryOfPod(pod: Pod): RequestedMemory {
  const { initContainers = [], containers = [] } = pod.spec ?? {};
  const [sidecars, starting] = [new Map<string, number>(), new Map<string, number>()];
  for (const container of initContainers) {
    for (const [name, size] of requestedMemoryOf(pod, container)) {
      const running = (sidecars.get(name) ?? 0) + size;
      if (isRestartableInitContainer(container)) sidecars.set(name, running);
      else starting.set(name, Math.max(starting.get(name) ?? 0, running));
    }
  }
  const main = new Map<string, number>();
  for (const container of containers) {
    for (const [name, size] of requestedMemoryOf(pod, container)) main.set(name, (main.get(name) ?? 0) + size);
  }
  const most = [...main].map(([name, size]) => {
    return [name, Math.max(size + (sidecars.get(name) ?? 0), starting.get(name) ?? 0)] as const;
  });
  return new Map(most);
}

function isSome([, size]: readonly [string, number]): boolean {
  return size > 0;
}
