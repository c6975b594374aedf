import type { Pod } from "../../../api/gen/types.ts";
import { podContainers } from "../../../api/pods.ts";
import { computeQosClass } from "../../../api/qos.ts";
import { compareQuantities } from "../../../api/quantity.ts";

/** Returns why the pod can never have what it asks for; undefined: nothing is against it. */
export type OwnedResizeRule = (
  pod: Pod,
  granted: Pod,
) => { readonly reason: "Infeasible"; readonly message: string } | undefined;

/** What containers have for themselves on this node: undefined where they share it. */
export interface OwnedResources {
  readonly cpus: unknown;
  readonly memory: unknown;
}

/**
 * Where containers have CPUs or memory for themselves, a Guaranteed pod keeps as much as it has (upstream:
 * allocation/handlers.go).
 */
export function createOwnedResizeRule({ cpus, memory }: OwnedResources): OwnedResizeRule {
  return (pod, granted) => {
    if (computeQosClass(pod) !== "Guaranteed") return undefined;
    if (cpus !== undefined && asksForOther("cpu", pod, granted)) return refuse('CPU Manager policy "static"');
    if (memory !== undefined && asksForOther("memory", pod, granted)) return refuse('Memory Manager policy "Static"');
    return undefined;
  };
}

function refuse(policy: string) {
  const message = `Resize is infeasible for Guaranteed Pods alongside ${policy}`;
  return { reason: "Infeasible", message } as const;
}

function asksForOther(resource: "cpu" | "memory", pod: Pod, granted: Pod): boolean {
  const had = requestsOf(resource, granted);
  return [...requestsOf(resource, pod)].some(([name, amount]) => compareQuantities(amount, had.get(name) ?? "0") !== 0);
}

function requestsOf(resource: "cpu" | "memory", pod: Pod): Map<string, string> {
  const requests = podContainers(pod).map(({ container }) => {
    return [container.name, container.resources?.requests?.[resource] ?? "0"] as const;
  });
  return new Map(requests);
}
