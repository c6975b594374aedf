import type { Container, Pod } from "../../../api/gen/types.ts";
import { isRestartableInitContainer } from "../../../api/pods.ts";
import { computeQosClass } from "../../../api/qos.ts";
import { quantityMilliValue } from "../../../api/quantity.ts";
import { hasPodLevelResources } from "../../../api/resources.ts";

/**
 * How many CPUs a container has for itself: what it asks for, where that is a whole number and the pod is Guaranteed.
 * Pods with resources of their own share all CPUs, as they do upstream without `PodLevelResourceManagers`.
 */
export function countExclusiveCpus(pod: Pod, { resources }: Pick<Container, "resources">): number {
  if (computeQosClass(pod) !== "Guaranteed" || hasPodLevelResources(pod)) return 0;
  const milliCpu = quantityMilliValue(resources?.requests?.["cpu"] ?? resources?.limits?.["cpu"] ?? "0");
  return milliCpu % 1_000n === 0n ? Number(milliCpu / 1_000n) : 0;
}

/** How many CPUs the pod has for itself at most, at any moment of its life. */
export function countExclusiveCpusOfPod(pod: Pod): number {
  let [sidecars, starting] = [0, 0];
  for (const container of pod.spec?.initContainers ?? []) {
    const wanted = countExclusiveCpus(pod, container);
    if (isRestartableInitContainer(container)) sidecars += wanted;
    else starting = Math.max(starting, sidecars + wanted);
  }
  const main = (pod.spec?.containers ?? []).reduce((sum, each) => sum + countExclusiveCpus(pod, each), 0);
  return Math.max(starting, sidecars + main);
}
