import type { Pod } from "../../../api/gen/types.ts";
import { podContainers } from "../../../api/pods.ts";
import { computeQosClass } from "../../../api/qos.ts";
import { compareQuantities } from "../../../api/quantity.ts";
import type { FeatureGates } from "../../../config/feature-gates.ts";

/** What containers have for themselves on this node: undefined where they share it. */
export interface OwnedResources {
  readonly cpus: unknown;
  readonly memory: unknown;
}

type ResizeGates = Pick<
  FeatureGates,
  "InPlacePodVerticalScalingExclusiveCPUs" | "InPlacePodVerticalScalingExclusiveMemory"
>;

/**
 * Where containers have CPUs or memory for themselves, a Guaranteed pod keeps as much as it has, unless a gate allows it to be
 * resized: it then gets other requests and limits, and keeps the CPUs and NUMA nodes that it has (upstream:
 * allocation/handlers.go).
 */
export function createOwnedResizeRule({ cpus, memory }: OwnedResources, gates: ResizeGates) {
  const keepsCpus = cpus !== undefined && !gates.InPlacePodVerticalScalingExclusiveCPUs;
  const keepsMemory = memory !== undefined && !gates.InPlacePodVerticalScalingExclusiveMemory;
  return (pod: Pod, granted: Pod) => {
    if (computeQosClass(pod) !== "Guaranteed") return undefined;
    if (keepsCpus && asksForOther("cpu", pod, granted)) return refuse("cpu", 'CPU Manager policy "static"');
    if (keepsMemory && asksForOther("memory", pod, granted)) return refuse("memory", 'Memory Manager policy "Static"');
    return undefined;
  };
}

function refuse(resource: "cpu" | "memory", policy: string) {
  const message = `Resize is infeasible for Guaranteed Pods alongside ${policy}`;
  return { reason: "Infeasible", message, detail: `guaranteed_pod_${resource}_manager_static_policy` } as const;
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
