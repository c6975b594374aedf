import type { Node } from "../../../api/gen/types.ts";
import { SECOND } from "../../../base/clock.ts";

const TTL_ANNOTATION = "node.alpha.kubernetes.io/ttl";

/**
 * Reads for how many milliseconds the node may use a copy of a secret or config map; undefined where the cluster sets
 * no such time.
 */
export function readObjectTtlMs(node: Node | undefined): number | undefined {
  const text = node?.metadata?.annotations?.[TTL_ANNOTATION];
  const seconds = Number(text);
  return text === undefined || !Number.isInteger(seconds) || seconds < 0 ? undefined : seconds * SECOND;
}

/**
 * Reads the address ranges that the cluster has set aside for the node's pods, primary first; none where it assigns
 * none.
 */
export function readPodCidrs({ spec }: Node): readonly string[] {
  return spec?.podCIDRs ?? (spec?.podCIDR === undefined ? [] : [spec.podCIDR]);
}

/** Returns the labels of the node; undefined before its object is known. */
export function readNodeLabels(node: Node | undefined): Readonly<Record<string, string>> | undefined {
  return node?.metadata?.labels;
}
