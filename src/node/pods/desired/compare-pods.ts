import type { Pod } from "../../../api/gen/types.ts";
import { isRecord } from "../../../api/object.ts";

/**
 * How a pod differs from its known version: in fields that the node acts on (`desired`), in the status only, or in
 * nothing that matters. Annotations named in `ignored` do not count. Another resource version counts as another status:
 * the node's own write and another over it may arrive as one, and look like the pod before both.
 */
export function comparePods(existing: Pod, offered: Pod, ignored: readonly string[]): "desired" | "status" | "none" {
  if (!isSameValue(desiredPart(existing, ignored), desiredPart(offered, ignored))) return "desired";
  const isSameVersion = existing.metadata?.resourceVersion === offered.metadata?.resourceVersion;
  return isSameVersion && isSameValue(existing.status, offered.status) ? "none" : "status";
}

function desiredPart({ metadata, spec }: Pod, ignored: readonly string[]): unknown {
  const annotations = Object.entries(metadata?.annotations ?? {}).filter(([name]) => !ignored.includes(name));
  return {
    spec,
    labels: metadata?.labels ?? {},
    annotations: Object.fromEntries(annotations),
    deletionTimestamp: metadata?.deletionTimestamp,
    deletionGracePeriodSeconds: metadata?.deletionGracePeriodSeconds,
  };
}

/** Compares two JSON values; a field that is undefined equals one that is absent. */
function isSameValue(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((value, index) => isSameValue(value, b[index]));
  }
  if (!isRecord(a) || !isRecord(b)) return false;
  return [...new Set([...Object.keys(a), ...Object.keys(b)])].every((name) => isSameValue(a[name], b[name]));
}
