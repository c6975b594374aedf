import { isRecord } from "../object.ts";
import { ownField, withoutNulls } from "./json-value.ts";
import { requireObjectPatch } from "./patch-error.ts";

/**
 * Returns the document as a JSON merge patch (RFC 7386) changes it: null removes, objects merge, anything else
 * replaces. As upstream has it, nulls in added values are dropped even inside lists. Neither argument is changed; the
 * result may share parts with both. Throws BadRequest when the patch is not an object.
 */
export function applyMergePatch(document: unknown, patch: unknown): unknown {
  return merge(document, requireObjectPatch(patch));
}

function merge(current: unknown, patch: unknown): unknown {
  if (!isRecord(patch) || !isRecord(current)) return withoutNulls(patch);
  const merged = new Map(Object.entries(current));
  for (const [name, change] of Object.entries(patch)) {
    if (change === null) merged.delete(name);
    else merged.set(name, merge(ownField(current, name), change));
  }
  return Object.fromEntries(merged);
}
