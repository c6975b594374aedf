import type { ListNode, SchemaNode } from "../schema-node.ts";
import { everyPath } from "./extract-set.ts";
import { type FieldSet, type FieldSetDraft, insertNode, insertPath } from "./field-set.ts";
import { own, sameJson } from "./json-value.ts";
import { fieldElement, itemElement, type PathElement } from "./path-element.ts";
import { asList, asMap, entryNode, isAtomicMap, isEmpty, itemisedList, type Shape, shapeOf } from "./shape.ts";

/** The differences between two objects; no path is in more than one of the sets. */
interface Comparison {
  readonly added: FieldSet;
  readonly modified: FieldSet;
  readonly removed: FieldSet;
}

/** Compares two objects. Undefined stands for an object that is not there. Equal parts cost a walk and nothing else. */
export function compareObjects(node: SchemaNode, before: unknown, after: unknown): Comparison {
  const walk: Walk = { path: [], added: new Map(), modified: new Map(), removed: new Map() };
  if (before === undefined) return { ...walk, added: everyPath(node, after).children ?? walk.added };
  if (after === undefined) return { ...walk, removed: everyPath(node, before).children ?? walk.removed };
  compareValues(walk, node, { before, after });
  return walk;
}

interface Walk {
  /** The place of the walk. */
  readonly path: PathElement[];
  readonly added: FieldSetDraft;
  readonly modified: FieldSetDraft;
  readonly removed: FieldSetDraft;
}

/** The two sides of a place. Undefined means that the value is not there; null is a value. */
interface Sides {
  readonly before: unknown;
  readonly after: unknown;
}

function compareValues(walk: Walk, node: SchemaNode, sides: Sides): void {
  const { before, after } = sides;
  if (before === after) return;
  if (before === undefined) insertNode(walk.added, walk.path, everyPath(node, after));
  else if (after === undefined) insertNode(walk.removed, walk.path, everyPath(node, before));
  else {
    const shape = shapeOf(node, after);
    const shapeBefore = shapeOf(node, before);
    // Without a schema, a map can become a scalar: its entries are gone and the place itself has changed.
    if (shapeBefore !== shape) compareAs(walk, node, { ...sides, shape: shapeBefore });
    compareAs(walk, node, { ...sides, shape });
  }
}

function compareAs(walk: Walk, node: SchemaNode, { before, after, shape }: Sides & { shape: Shape }): void {
  if (shape === "list") compareLists(walk, node, { before, after });
  else if (shape === "map") compareMaps(walk, node, { before, after });
  else compareLeaves(walk, { before, after });
}

function compareLeaves({ modified, path }: Walk, { before, after }: Sides): void {
  if (!sameJson(before, after)) insertPath(modified, path);
}

function compareMaps(walk: Walk, node: SchemaNode, { before, after }: Sides): void {
  const [left, right] = [asMap(before), asMap(after)];
  // The difference between empty, null and absent is a difference of leaves.
  if (isAtomicMap(node) || (isEmpty(left) && isEmpty(right))) {
    compareLeaves(walk, { before, after });
    return;
  }
  for (const name of Object.keys(right ?? {})) {
    compareChild(walk, fieldElement(name), entryNode(node, name), {
      before: left && own(left, name),
      after: right?.[name],
    });
  }
  for (const name of Object.keys(left ?? {})) {
    if (right && own(right, name) !== undefined) continue;
    compareChild(walk, fieldElement(name), entryNode(node, name), { before: left?.[name], after: undefined });
  }
}

function compareChild(walk: Walk, element: PathElement, node: SchemaNode, sides: Sides): void {
  if (sides.before === sides.after) return;
  walk.path.push(element);
  compareValues(walk, node, sides);
  walk.path.pop();
}

function compareLists(walk: Walk, node: SchemaNode, { before, after }: Sides): void {
  const [left, right] = [asList(before), asList(after)];
  if (sameJson(before, after)) return;
  const list = itemisedList(node);
  if (!list || (isEmpty(left) && isEmpty(right))) {
    insertPath(walk.modified, walk.path);
    return;
  }
  const leftItems = indexItems(list, left ?? []);
  const rightItems = indexItems(list, right ?? []);
  for (const element of new Set([...leftItems.keys(), ...rightItems.keys()])) {
    walk.path.push(element);
    compareItems(walk, list, { before: leftItems.get(element) ?? [], after: rightItems.get(element) ?? [] });
    walk.path.pop();
  }
}

function indexItems(list: ListNode, items: readonly unknown[]): Map<PathElement, unknown[]> {
  const index = new Map<PathElement, unknown[]>();
  for (const item of items) {
    const element = itemElement(list, item);
    const same = index.get(element);
    if (same) same.push(item);
    else index.set(element, [item]);
  }
  return index;
}

/**
 * Compares items that share an element. They count as one opaque thing, which was removed, was added or has changed.
 */
function compareItems(
  walk: Walk,
  list: ListNode,
  { before, after }: { before: readonly unknown[]; after: readonly unknown[] },
): void {
  const [wasMany, isMany] = [before.length > 1, after.length > 1];
  if (wasMany && isMany) {
    compareLeaves(walk, { before, after });
    return;
  }
  const single = { before: wasMany ? undefined : before[0], after: isMany ? undefined : after[0] };
  compareValues(walk, list.items, single);
  if (wasMany) insertPath(walk.removed, walk.path);
  if (isMany) insertPath(walk.added, walk.path);
}
