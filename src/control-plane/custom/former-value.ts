import { isDeepStrictEqual } from "node:util";
import { isRecord } from "../../api/object.ts";
import { additionalOf, itemsOf, propertyOf, type Schema } from "./schema-props.ts";

/** The value that an update replaces. What was there before and did not change is not judged again. */
export interface FormerValue {
  readonly value: unknown;
  /** It says by which keys the items of a list are told from each other. */
  readonly schema: Schema;
}

/** Undefined where there was no such property. */
export function formerProperty(former: FormerValue | undefined, name: string): FormerValue | undefined {
  if (former === undefined || !isRecord(former.value) || !Object.hasOwn(former.value, name)) return undefined;
  return knownValue(former.value[name], propertyOf(former.schema, name) ?? additionalOf(former.schema));
}

/**
 * Finds the item that a new item of the list replaces; undefined where there was none, and for a list whose items have no
 * keys: nobody can say which item was which.
 */
export function formerItems(former: FormerValue | undefined): (item: unknown) => FormerValue | undefined {
  const list = former?.value;
  const keys = former === undefined ? [] : listKeysOf(former.schema);
  if (former === undefined || keys.length === 0 || !Array.isArray(list)) return () => undefined;
  const items: readonly unknown[] = list;
  const byKeys = new Map(items.map((item) => [itemIdentity(item, keys), item]));
  return (item) => knownValue(byKeys.get(itemIdentity(item, keys)), itemsOf(former.schema));
}

/** The names of the fields that tell the items of a list apart; none where nothing does. */
export function listKeysOf(schema: Schema): readonly string[] {
  return schema["x-kubernetes-list-type"] === "map" ? (schema["x-kubernetes-list-map-keys"] ?? []) : [];
}

/** A text that is the same for items with the same keys. */
export function itemIdentity(item: unknown, keys: readonly string[]): string {
  return JSON.stringify(keys.map((key) => (isRecord(item) ? item[key] : undefined)));
}

function knownValue(value: unknown, schema: unknown): FormerValue | undefined {
  if (value === undefined || value === null) return undefined;
  return { value, schema: isRecord(schema) ? schema : {} };
}

/** Compares values with what they replace. Each object and list is compared once, however often it is asked about. */
export function createComparison(): (value: unknown, former: FormerValue | undefined) => boolean {
  const known = new Map<object, boolean>();
  return (value, former) => {
    if (former === undefined) return false;
    if (typeof value !== "object" || value === null) return value === former.value;
    const before = known.get(value);
    if (before !== undefined) return before;
    const isSame = isDeepStrictEqual(value, former.value);
    known.set(value, isSame);
    return isSame;
  };
}
