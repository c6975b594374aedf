import type { Pod } from "../../../api/gen/types.ts";
import { isRecord } from "../../../api/object.ts";

/**
 * How a pod differs from what was known of it: in what the node acts on (`desired`), in the status only, or not in
 * anything that matters. Annotations named in `ignored` do not count. Another version of the pod counts as another
 * status: what we wrote and what somebody else wrote over it may arrive as one, and look like what was there before.
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

/** Of two JSON values; a field that is undefined is the same as one that is absent. */
function isSameValue(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((value, index) => isSameValue(value, b[index]));
  }
  if (!isRecord(a) || !isRecord(b)) return false;
  return [...new Set([...Object.keys(a), ...Object.keys(b)])].every((name) => isSameValue(a[name], b[name]));
}
