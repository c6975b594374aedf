import type { Pod } from "../../../api/gen/types.ts";
import { podContainers } from "../../../api/pods.ts";
import { compareQuantities } from "../../../api/quantity.ts";
import type { SizingFacts } from "../../resources/sizes/sizing-facts.ts";
import { mayUseSwap } from "../../resources/sizes/swap.ts";

/**
 * A container that may use swap gets no other amount of memory while it runs (upstream: allocation/handlers.go). Undefined:
 * the pod asks for nothing of that kind.
 */
export function findSwapResize(pod: Pod, granted: Pod, node: SizingFacts) {
  const had = new Map(podContainers(granted).map(({ container }) => [container.name, container]));
  const isSwapping = podContainers(pod).some(({ container }) => {
    const before = had.get(container.name);
    if (before === undefined) return false;
    const isSame = compareQuantities(memoryOf(container), memoryOf(before)) === 0;
    const restarts = before.resizePolicy?.some(
      ({ resourceName, restartPolicy }) => resourceName === "memory" && restartPolicy === "RestartContainer",
    );
    if (isSame || restarts === true) return false;
    return mayUseSwap(pod, container, node) || mayUseSwap(granted, before, node);
  });
  if (!isSwapping) return undefined;
  const message = "In-place resize of containers with swap is not supported.";
  return { reason: "Infeasible", message, detail: "swap_limitation" } as const;
}

function memoryOf({ resources }: { readonly resources?: { readonly requests?: Record<string, string> } }): string {
  return resources?.requests?.["memory"] ?? "0";
}
