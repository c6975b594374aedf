import type { Container, Pod } from "./gen/types.ts";
import { isRestartableInitContainer } from "./pods.ts";
import { addQuantities, compareQuantities } from "./quantity.ts";

/** Resource name to canonical quantity. */
export type ResourceList = Record<string, string>;

/** Resources that `spec.resources` may set for the pod as a whole. */
export function isPodLevelResource(name: string): boolean {
  return name === "cpu" || name === "memory" || name.startsWith("hugepages-");
}

/** True when the pod as a whole has requests or limits of its own. */
export function hasPodLevelResources(pod: Pod): boolean {
  const { requests = {}, limits = {} } = pod.spec?.resources ?? {};
  return [...Object.keys(requests), ...Object.keys(limits)].some(isPodLevelResource);
}

/**
 * Returns what the pod asks the node to keep for it: the larger of what its main containers and sidecars need together
 * and what its init containers need at any one moment. Pod-level requests win over that, and overhead is added.
 */
export function computePodRequests(pod: Pod): ResourceList {
  const total = computeContainerRequests(pod);
  overridePodLevel(total, pod.spec?.resources?.requests ?? {});
  return sumResources(total, pod.spec?.overhead ?? {});
}

/** Returns the limits of the pod. Overhead is added only to resources that have a limit: no limit stays no limit. */
export function computePodLimits(pod: Pod): ResourceList {
  const total = computeContainerLimits(pod);
  overridePodLevel(total, pod.spec?.resources?.limits ?? {});
  for (const [name, overhead] of Object.entries(pod.spec?.overhead ?? {})) {
    const limit = amountOf(total, name);
    if (limit !== undefined && compareQuantities(limit, "0") !== 0) total[name] = addQuantities(limit, overhead);
  }
  return total;
}

/** Returns the containers' part of the pod's requests, without what the pod sets as a whole and without overhead. */
export function computeContainerRequests(pod: Pod): ResourceList {
  return aggregateContainers(pod, (container) => container.resources?.requests ?? {});
}

/** The containers' part of the pod's limits. */
export function computeContainerLimits(pod: Pod): ResourceList {
  return aggregateContainers(pod, (container) => container.resources?.limits ?? {});
}

/** An init container runs beside the sidecars that started before it; main containers run beside all sidecars. */
function aggregateContainers(pod: Pod, resourcesOf: (container: Container) => ResourceList): ResourceList {
  let running: ResourceList = {};
  for (const container of pod.spec?.containers ?? []) running = sumResources(running, resourcesOf(container));
  let sidecars: ResourceList = {};
  let initializing: ResourceList = {};
  for (const container of pod.spec?.initContainers ?? []) {
    const together = sumResources(sidecars, resourcesOf(container));
    if (isRestartableInitContainer(container)) {
      sidecars = together;
      running = sumResources(running, resourcesOf(container));
    }
    initializing = maxResources(initializing, together);
  }
  return maxResources(running, initializing);
}

function overridePodLevel(total: ResourceList, podLevel: ResourceList): void {
  for (const [name, quantity] of Object.entries(podLevel)) {
    if (isPodLevelResource(name)) total[name] = addQuantities("0", quantity);
  }
}

/** Returns the amount of a resource. The user chooses its name, which may be that of a method of all objects. */
export function amountOf(amounts: ResourceList, name: string): string | undefined {
  return Object.hasOwn(amounts, name) ? amounts[name] : undefined;
}

function sumResources(a: ResourceList, b: ResourceList): ResourceList {
  const sum = { ...a };
  for (const [name, quantity] of Object.entries(b)) sum[name] = addQuantities(amountOf(sum, name) ?? "0", quantity);
  return sum;
}

function maxResources(a: ResourceList, b: ResourceList): ResourceList {
  const larger = { ...a };
  for (const [name, quantity] of Object.entries(b)) {
    const known = amountOf(larger, name);
    if (known === undefined || compareQuantities(quantity, known) > 0) larger[name] = quantity;
  }
  return larger;
}
