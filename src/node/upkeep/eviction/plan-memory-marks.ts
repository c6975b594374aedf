import { quantityValue } from "../../../api/quantity.ts";
import type { EvictionThreshold } from "../../../config/eviction-thresholds.ts";
import type { MemoryMark } from "../../../host/memory-marks-port.ts";
import { type SignalObservations, thresholdQuantity } from "./signals.ts";

/**
 * Plans the amounts of used memory at which the kernel wakes the eviction; the function is pure. The kernel counts pages
 * of files that it could take back, and thresholds do not, so these are added. `pathOfAllPods` is undefined where pods
 * have no common cgroup. It follows `UpdateThreshold` (pkg/kubelet/eviction/memory_threshold_notifier_others.go).
 */
export function planMemoryMarks(
  thresholds: readonly EvictionThreshold[],
  observations: SignalObservations,
  pathOfAllPods: string | undefined,
): readonly MemoryMark[] {
  const paths = new Map([
    ["memory.available", "/"],
    ["allocatableMemory.available", pathOfAllPods],
  ]);
  return thresholds.flatMap(({ signal, value }) => {
    const path = paths.get(signal);
    const observed = observations.get(signal);
    if (path === undefined || observed === undefined) return [];
    const { capacity, reclaimable = 0 } = observed;
    const least = quantityValue(thresholdQuantity(value, capacity));
    const bytes = BigInt(Math.trunc(capacity + reclaimable)) - least;
    return bytes > 0n ? [{ path, bytes }] : [];
  });
}
