import type { Pod } from "../../../api/gen/types.ts";
import { podContainers } from "../../../api/pods.ts";
import { computeQosClass } from "../../../api/qos.ts";
import { compareQuantities } from "../../../api/quantity.ts";

/**
 * Where containers have CPUs for themselves, a Guaranteed pod keeps the CPU that it has (upstream: allocation/handlers.go).
 * Undefined: the pod asks for no other.
 */
export function findExclusiveCpuResize(
  pod: Pod,
  granted: Pod,
): { readonly reason: "Infeasible"; readonly message: string } | undefined {
  if (computeQosClass(pod) !== "Guaranteed") return undefined;
  const had = requestsOf(granted);
  const isOther = [...requestsOf(pod)].some(([name, cpu]) => compareQuantities(cpu, had.get(name) ?? "0") !== 0);
  if (!isOther) return undefined;
  const message = 'Resize is infeasible for Guaranteed Pods alongside CPU Manager policy "static"';
  return { reason: "Infeasible", message };
}

function requestsOf(pod: Pod): Map<string, string> {
  const requests = podContainers(pod).map(({ container }) => {
    return [container.name, container.resources?.requests?.["cpu"] ?? "0"] as const;
  });
  return new Map(requests);
}
