import type { Container, Pod } from "../../../api/gen/types.ts";
import { isCriticalPod } from "../../../api/pods.ts";
import { computeQosClass } from "../../../api/qos.ts";
import { quantityValue } from "../../../api/quantity.ts";
import type { SizingFacts } from "./sizing-facts.ts";

/** What a container is told about swap; at most one of the two is set. */
interface SwapSettings {
  /** cgroup v1: memory and swap together; equal to the memory limit, it leaves no swap. */
  memorySwapLimitInBytes?: bigint;
  /** cgroup v2: `memory.swap.max`. */
  unified?: Record<string, string>;
}

/** No swap unless the node allows it in part and the container is burstable with a request below its limit. */
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

/** The container's share of the machine's swap is the share of its memory that it asked for. */
function swapLimitBytes(pod: Pod, container: Container, node: SizingFacts): bigint {
  if (node.swap.behavior === "NoSwap" || isCriticalPod(pod) || computeQosClass(pod) !== "Burstable") return 0n;
  const request = quantityValue(container.resources?.requests?.["memory"] ?? "0");
  const limit = quantityValue(container.resources?.limits?.["memory"] ?? "0");
  // Equal also means that neither is set; a request beyond the machine has no meaningful share.
  if (request === limit || request > node.memoryCapacityBytes) return 0n;
  return (request * node.swap.capacityBytes) / node.memoryCapacityBytes;
}
