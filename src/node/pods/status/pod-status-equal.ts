import type { PodStatus } from "../../../api/gen/types.ts";
import { isRecord } from "../../../api/object.ts";

/**
 * Whether two statuses say the same. A field that is absent equals one that is undefined, empty or null, as they do on
 * the wire; the order of keys does not matter, that of lists does.
 */
export function isPodStatusEqual(left: PodStatus, right: PodStatus): boolean {
  return isSame(left, right);
}

function isSame(left: unknown, right: unknown): boolean {
  if (Object.is(left, right)) return true;
  if (isAbsent(left) || isAbsent(right)) return isAbsent(left) && isAbsent(right);
  if (Array.isArray(left) && Array.isArray(right)) {
    return left.length === right.length && left.every((item, index) => isSame(item, right[index]));
  }
  if (!isRecord(left) || !isRecord(right)) return false;
  const keys = new Set([...Object.keys(left), ...Object.keys(right)]);
  return [...keys].every((key) => isSame(left[key], right[key]));
}

function isAbsent(value: unknown): boolean {
  if (value === undefined || value === null || value === "") return true;
  return Array.isArray(value) && value.length === 0;
}
