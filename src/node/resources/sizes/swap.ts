import type { Container, Pod } from "../../../api/gen/types.ts";
import { isCriticalPod } from "../../../api/pods.ts";
import { computeQosClass } from "../../../api/qos.ts";
import { quantityValue } from "../../../api/quantity.ts";
import type { SizingFacts } from "./sizing-facts.ts";

/** A container's settings of swap. At most one of the two is set. */
interface SwapSettings {
  /** cgroup v1: the limit of memory and swap together. A value equal to the memory limit leaves no swap. */
  memorySwapLimitInBytes?: bigint;
  /** cgroup v2: `memory.swap.max`. */
  unified?: Record<string, string>;
}

/**
 * Computes the settings of swap. A container gets none unless the node allows it in part and the container is burstable
 * with a request below its limit.
 */
export function computeSwap(
  pod: Pod,
  container: Container,
  options: { node: SizingFacts; memoryLimitBytes: bigint },
): SwapSettings {
  const { node, memoryLimitBytes } = options;
  if (!node.swap.controllerAvailable) return {};
  if (node.cgroupVersion === 1) return { memorySwapLimitInBytes: memoryLimitBytes };
  return { unified: { "memory.swap.max": `${swapLimitBytes(pod, container, node)}` } };
}

/**
 * Computes the container's swap. Its share of the machine's swap is the share of the machine's memory that it
 * requested.
 */
function swapLimitBytes(pod: Pod, container: Container, node: SizingFacts): bigint {
  const request = quantityValue(container.resources?.requests?.["memory"] ?? "0");
  // A request beyond the machine's memory has no meaningful share.
  if (!mayUseSwap(pod, container, node) || request > node.memoryCapacityBytes) return 0n;
  return (request * node.swap.capacityBytes) / node.memoryCapacityBytes;
}

/** True for a container of a Burstable pod that is not critical, where the node allows swap in part. */
export function mayUseSwap(pod: Pod, container: Container, { swap, cgroupVersion }: SizingFacts): boolean {
  if (swap.behavior === "NoSwap" || !swap.controllerAvailable || cgroupVersion === 1) return false;
  if (isCriticalPod(pod) || computeQosClass(pod) !== "Burstable") return false;
  const { requests, limits } = container.resources ?? {};
  // Equal values also mean that neither is set.
  return quantityValue(requests?.["memory"] ?? "0") !== quantityValue(limits?.["memory"] ?? "0");
}
