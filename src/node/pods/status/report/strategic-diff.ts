import { isRecord } from "../../../../api/object.ts";
import type { SchemaNode } from "../../../../api/schema-node.ts";
import { assert } from "../../../../base/assert.ts";

type Fields = Readonly<Record<string, unknown>>;

/** Two versions of a value, and its place in the schema. */
interface Change {
  readonly current: unknown;
  readonly wanted: unknown;
  readonly node: SchemaNode | undefined;
}

/**
 * The strategic merge patch that turns the first object into the second; undefined where they are the same. A field is
 * removed by null, an item of a list that merges by `$patch: delete`. It serves types without lists of scalars that
 * merge, as the status of a pod is.
 */
export function diffStrategic(current: Fields, wanted: Fields, node: SchemaNode | undefined): Fields | undefined {
  const patch = new Map<string, unknown>();
  for (const field of new Set([...Object.keys(current), ...Object.keys(wanted)])) {
    diffField(patch, field, { current: current[field], wanted: wanted[field], node: nodeOfField(node, field) });
  }
  return patch.size === 0 ? undefined : Object.fromEntries(patch);
}

function diffField(patch: Map<string, unknown>, field: string, { current, wanted, node }: Change): void {
  if (isSameJson(current, wanted)) return;
  if (wanted === undefined) {
    patch.set(field, null);
  } else if (isRecord(current) && isRecord(wanted)) {
    const change = diffStrategic(current, wanted, node);
    if (change !== undefined) patch.set(field, change);
  } else if (Array.isArray(current) && Array.isArray(wanted) && node?.kind === "list" && node.patch.includes("merge")) {
    assert(node.mergeKey !== undefined, "lists of scalars that merge are not compared");
    diffList(patch, field, { current, wanted, mergeKey: node.mergeKey, items: node.items });
  } else {
    patch.set(field, wanted);
  }
}

interface ListChange {
  readonly current: readonly unknown[];
  readonly wanted: readonly unknown[];
  readonly mergeKey: string;
  readonly items: SchemaNode;
}

function diffList(patch: Map<string, unknown>, field: string, { current, wanted, mergeKey, items }: ListChange): void {
  const before = byKey(current, mergeKey);
  const after = byKey(wanted, mergeKey);
  if (before === undefined || after === undefined) {
    // Items without distinct keys can only be replaced together.
    patch.set(field, [{ $patch: "replace" }, ...wanted]);
    return;
  }
  const changes = [...after].flatMap(([key, item]) => {
    const known = before.get(key);
    if (known === undefined) return [item];
    const change = diffStrategic(known, item, items);
    return change === undefined ? [] : [{ [mergeKey]: key, ...change }];
  });
  const deleted = [...before.keys()].filter((key) => !after.has(key));
  const kept = [...before.keys()].filter((key) => after.has(key));
  const isInPlace = deleted.length === 0 && isSameJson(kept, [...after.keys()]);
  if (!isInPlace) {
    patch.set(
      `$setElementOrder/${field}`,
      [...after.keys()].map((key) => ({ [mergeKey]: key })),
    );
  }
  const deletions = deleted.map((key) => ({ $patch: "delete", [mergeKey]: key }));
  if (changes.length + deletions.length > 0) patch.set(field, [...changes, ...deletions]);
}

/** The items by their keys; undefined where an item has no key, or two have the same. */
function byKey(list: readonly unknown[], mergeKey: string): Map<unknown, Fields> | undefined {
  const items = new Map<unknown, Fields>();
  for (const item of list) {
    if (!isRecord(item) || item[mergeKey] === undefined || items.has(item[mergeKey])) return undefined;
    items.set(item[mergeKey], item);
  }
  return items;
}

function nodeOfField(node: SchemaNode | undefined, field: string): SchemaNode | undefined {
  if (node?.kind === "struct") return node.field(field);
  return node?.kind === "map" ? node.values : undefined;
}

function isSameJson(left: unknown, right: unknown): boolean {
  if (Object.is(left, right)) return true;
  if (Array.isArray(left) && Array.isArray(right)) {
    return left.length === right.length && left.every((item, index) => isSameJson(item, right[index]));
  }
  if (!isRecord(left) || !isRecord(right)) return false;
  const keys = Object.keys(left);
  return keys.length === Object.keys(right).length && keys.every((key) => isSameJson(left[key], right[key]));
}

/**
 * True when the second patch asks for everything that the first one does, with the same values, and perhaps for more.
 */
export function isPartOf(part: unknown, whole: unknown): boolean {
  if (Array.isArray(part) && Array.isArray(whole)) {
    return part.length === whole.length && part.every((item, index) => isPartOf(item, whole[index]));
  }
  if (!isRecord(part) || !isRecord(whole)) return Object.is(part, whole);
  return Object.keys(part).every((key) => Object.hasOwn(whole, key) && isPartOf(part[key], whole[key]));
}
