import type { Pod, ResourceRequirements } from "./gen/types.ts";
import { addQuantities, compareQuantities } from "./quantity.ts";
import { hasPodLevelResources, type ResourceList } from "./resources.ts";

export type QosClass = "Guaranteed" | "Burstable" | "BestEffort";

const QOS_RESOURCES = ["cpu", "memory"];

/**
 * BestEffort: no container asks for or limits CPU or memory. Guaranteed: every container limits both and requests equal
 * limits. Burstable: anything else. Pod-level resources, where set, decide instead of the containers'.
 */
export function computeQosClass(pod: Pod): QosClass {
  const parts = hasPodLevelResources(pod)
    ? [pod.spec?.resources]
    : [...(pod.spec?.containers ?? []), ...(pod.spec?.initContainers ?? [])].map((container) => container.resources);
  const requests = sumPositive(parts, "requests");
  const limits = sumPositive(parts, "limits");
  if (Object.keys(requests).length === 0 && Object.keys(limits).length === 0) return "BestEffort";
  const allLimited = parts.every((part) => QOS_RESOURCES.every((name) => isPositive(part?.limits?.[name])));
  return allLimited && isSame(requests, limits) ? "Guaranteed" : "Burstable";
}

function isPositive(quantity: string | undefined): quantity is string {
  return quantity !== undefined && compareQuantities(quantity, "0") > 0;
}

function sumPositive(parts: Array<ResourceRequirements | undefined>, field: "requests" | "limits"): ResourceList {
  const sum: ResourceList = {};
  for (const part of parts) {
    for (const name of QOS_RESOURCES) {
      const quantity = part?.[field]?.[name];
      if (isPositive(quantity)) sum[name] = addQuantities(sum[name] ?? "0", quantity);
    }
  }
  return sum;
}

function isSame(requests: ResourceList, limits: ResourceList): boolean {
  return QOS_RESOURCES.every((name) => {
    const request = requests[name];
    const limit = limits[name];
    return request !== undefined && limit !== undefined && compareQuantities(request, limit) === 0;
  });
}
