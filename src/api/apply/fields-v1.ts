import type { FieldsV1 } from "../gen/types.ts";
import { isRecord } from "../object.ts";
import { type FieldSet, type FieldSetDraft, LEAF, sortedElements } from "./field-set.ts";
import { parseElement } from "./path-element.ts";

/** This key stands for the path itself where there are also longer paths. */
const SELF = ".";

const encoded = new WeakMap<FieldSet, FieldsV1>();

/** The set as a `fieldsV1`, in upstream's order. */
export function encodeFieldsV1(set: FieldSet): FieldsV1 {
  const known = encoded.get(set);
  if (known) return known;
  const fields = encodeLevel(set, {});
  encoded.set(set, fields);
  return fields;
}

function encodeLevel(set: FieldSet, fields: Record<string, unknown>): Record<string, unknown> {
  for (const element of set.size > 1 ? sortedElements(set) : set.keys()) {
    const node = set.get(element);
    fields[element] = node?.children ? encodeLevel(node.children, node.member ? { [SELF]: {} } : {}) : {};
  }
  return fields;
}

/** A `fieldsV1` that came from outside or from the store as a set. Throws on what cannot be read. */
export function decodeFieldsV1(fields: FieldsV1): FieldSet {
  return decodeLevel(fields).children;
}

function decodeLevel(fields: unknown): { children: FieldSetDraft; member: boolean } {
  if (fields !== null && !isRecord(fields))
    throw new Error(`expected an object of fields, got ${JSON.stringify(fields)}`);
  const children: FieldSetDraft = new Map();
  let member = false;
  for (const [text, rest] of Object.entries(fields ?? {})) {
    if (text === SELF) {
      member = true;
      continue;
    }
    const element = parseElement(text);
    if (element === undefined) continue;
    const below = decodeLevel(rest);
    children.set(element, below.children.size === 0 ? LEAF : below);
  }
  return { children, member: member || children.size === 0 };
}
