import type { Pod } from "../../../../api/gen/types.ts";
import { quantityValue } from "../../../../api/quantity.ts";
import { computePodLimits } from "../../../../api/resources.ts";

interface MemoryBounds {
  /** The volume's own limit; a quantity. */
  sizeLimit?: string | undefined;
  /** The node's memory for all pods together; a quantity. */
  allocatable?: string | undefined;
}

/**
 * How large a pod's volume in memory may become: the least of the limits of the volume, the pod and the node
 * (pkg/volume/emptydir/empty_dir.go, calculateEmptyDirMemorySize). Undefined: there is no limit.
 */
export function computeMemorySize(pod: Pod, { sizeLimit, allocatable }: MemoryBounds): bigint | undefined {
  const sizes = [sizeLimit, podMemoryLimit(pod), allocatable]
    .filter((quantity) => quantity !== undefined)
    .map(quantityValue)
    // 0 would mean no bound at all to a tmpfs.
    .filter((size) => size > 0n);
  return sizes.reduce<bigint | undefined>(
    (least, size) => (least === undefined || size < least ? size : least),
    undefined,
  );
}

/** The pod's memory limit. It has one only where each of its containers has a limit, or where it sets one itself. */
function podMemoryLimit(pod: Pod): string | undefined {
  const { containers = [], initContainers = [], resources } = pod.spec ?? {};
  const hasLimit = (limit = "0") => quantityValue(limit) > 0n;
  const isLimited =
    hasLimit(resources?.limits?.["memory"]) ||
    [...containers, ...initContainers].every((container) => hasLimit(container.resources?.limits?.["memory"]));
  return isLimited ? computePodLimits(pod)["memory"] : undefined;
}
