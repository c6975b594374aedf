import type { Pod } from "../../../api/gen/types.ts";
import { countObjects, listNamedObjects, MAX_NAMED_OBJECTS } from "../../cluster/refs/named-objects.ts";
import type { PodRejection } from "./pod-rejection.ts";

/** No pod that anybody wrote has as many of anything; each container has processes, and each object a watch. */
const MAX_PARTS = 1_000;
/** Requests and limits of all containers together: five for each of so many. */
const MAX_AMOUNTS = 5 * MAX_PARTS;

/**
 * Refuses a pod of thousands of containers, volumes or names of objects, which the API takes as long as it is shorter than
 * 1.5 MB: the node would look after it and after nothing else.
 */
export function rejectOversized(pod: Pod): PodRejection | undefined {
  const { containers = [], initContainers = [], volumes = [] } = pod.spec ?? {};
  const all = [...initContainers, ...containers];
  const amounts = all.reduce((sum, { resources }) => sum + sizeOf(resources?.requests) + sizeOf(resources?.limits), 0);
  const [found] = [
    { what: "containers", count: all.length, most: MAX_PARTS },
    { what: "volumes", count: volumes.length, most: MAX_PARTS },
    { what: "secrets and config maps", count: countObjects(listNamedObjects(pod)), most: MAX_NAMED_OBJECTS },
    { what: "requests and limits", count: amounts, most: MAX_AMOUNTS },
  ].filter(({ count, most }) => count > most);
  if (found === undefined) return undefined;
  const { what, count, most } = found;
  return { reason: "PodTooLarge", message: `Pod has ${count} ${what}, and this node takes pods of at most ${most}` };
}

function sizeOf(amounts: object = {}): number {
  return Object.keys(amounts).length;
}
