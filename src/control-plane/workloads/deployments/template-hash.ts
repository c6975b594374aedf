import type { PodTemplateSpec } from "../../../api/gen/types.ts";
import { isRecord } from "../../../api/object.ts";
import { fnv32a } from "../../../base/fnv.ts";

/** The label that tells the pods of one version of a template from those of the others. */
export const HASH_LABEL = "pod-template-hash";

/** Letters and digits of which no word can be made (`rand.SafeEncodeString`). */
const ALPHABET = "bcdfghjklmnpqrstvwxz2456789";

/**
 * The value of the label for this template, in upstream's letters. It is not upstream's own value, which is computed of
 * a dump of Go's memory; sets are found by their templates and never by the hash. Another count of collisions gives
 * another value.
 */
export function computeTemplateHash(template: PodTemplateSpec, collisionCount: number | undefined): string {
  const text = JSON.stringify([sortFields(template), collisionCount ?? null]);
  const digits = String(fnv32a(Buffer.from(text)));
  return [...digits].map((digit) => ALPHABET[digit.charCodeAt(0) % ALPHABET.length]).join("");
}

/** The same value with all fields in one order, so that the order in which a client wrote them does not matter. */
export function sortFields(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortFields);
  if (!isRecord(value)) return value;
  const entries = Object.entries(value).toSorted(([left], [right]) => (left < right ? -1 : 1));
  return Object.fromEntries(entries.map(([name, field]) => [name, sortFields(field)]));
}
