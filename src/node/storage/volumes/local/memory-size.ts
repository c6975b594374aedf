import type { Pod } from "../../../../api/gen/types.ts";
import { quantityValue } from "../../../../api/quantity.ts";
import { computePodLimits } from "../../../../api/resources.ts";

interface MemoryBounds {
  /** The volume's own; a quantity. */
  sizeLimit?: string | undefined;
  /** What the node has for all pods together; a quantity. */
  allocatable?: string | undefined;
}

/**
 * How large a pod's volume in memory may become: the least of what is set for the volume, for the pod and for the node
 * (pkg/volume/emptydir/empty_dir.go, calculateEmptyDirMemorySize). Undefined: nothing is.
 */
export function computeMemorySize(pod: Pod, { sizeLimit, allocatable }: MemoryBounds): bigint | undefined {
  const sizes = [sizeLimit, podMemoryLimit(pod), allocatable]
    .filter((quantity) => quantity !== undefined)
    .map(quantityValue)
    // To a tmpfs, 0 would mean no bound at all.
    .filter((size) => size > 0n);
  return sizes.reduce<bigint | undefined>(
    (least, size) => (least === undefined || size < least ? size : least),
    undefined,
  );
}

/** A pod has a limit only where each of its containers has one, or where it sets one as a whole. */
function podMemoryLimit(pod: Pod): string | undefined {
  const { containers = [], initContainers = [], resources } = pod.spec ?? {};
  const hasLimit = (limit = "0") => quantityValue(limit) > 0n;
  const isLimited =
    hasLimit(resources?.limits?.["memory"]) ||
    [...containers, ...initContainers].every((container) => hasLimit(container.resources?.limits?.["memory"]));
  return isLimited ? computePodLimits(pod)["memory"] : undefined;
}
