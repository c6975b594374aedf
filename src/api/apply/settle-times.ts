import type { ManagedFieldsEntry } from "../gen/types.ts";
import type { KubeObject } from "../object.ts";
import { withManagedFields, withoutManagedFields } from "./changes.ts";
import { sameJson } from "./json-value.ts";

/**
 * Returns `next` with the times of the current entries when nothing but those times differs. An apply that only set
 * what admission or defaulting then put back must not make a new version. It must be called right before the check that
 * recognizes an unchanged object.
 */
export function settleTimes(next: KubeObject, current: KubeObject): KubeObject {
  const [entries, stored] = [next.metadata.managedFields, current.metadata.managedFields];
  if (!entries || !stored || entries === stored || entries.length !== stored.length) return next;
  const isSettled = entries.every((entry, index) => sameButTime(entry, stored[index]));
  if (!isSettled || !sameJson(withoutManagedFields(next), withoutManagedFields(current))) return next;
  return withManagedFields(next, stored);
}

function sameButTime({ time: _, ...entry }: ManagedFieldsEntry, stored: ManagedFieldsEntry | undefined): boolean {
  if (!stored) return false;
  const { time: _stored, ...other } = stored;
  return sameJson(entry, other);
}
