import type { SchemaNode } from "../schema-node.ts";
import { claimedSet, everyPath } from "./extract-set.ts";
import { difference, EMPTY, type FieldSet, type FieldSetNode, intersection, union } from "./field-set.ts";
import { fieldElement, fieldName, itemElement, type PathElement } from "./path-element.ts";
import { asList, asMap, entryNode, isAtomicMap, isNamedField, itemisedList, shapeOf } from "./shape.ts";

/** What decides on what goes. */
interface Claims {
  /** What the applier claimed the last time. */
  readonly last: FieldSet;
  /** All that any manager owns, the applier's new claims included. */
  readonly owned: FieldSet;
  /** The configuration that was merged. */
  readonly applied: unknown;
}

/** Takes away what the applier claimed the last time and neither it nor anybody else claims now. */
export function pruneDisowned(node: SchemaNode, merged: unknown, { last, owned, applied }: Claims): unknown {
  const namedLast = withNamedFields(node, last);
  const namedOwned = withNamedFields(node, owned);
  const mergedSet = withNamedFields(node, claimedSet(node, merged));
  const bare = removePaths({ node, wanted: undefined }, merged, namedLast);
  const bareSet = withNamedFields(node, claimedSet(node, bare));
  // What others own below something that the applier gave up comes back, with all that holds it.
  const unowned = difference(mergedSet, union(bareSet, namedOwned));
  const kept = removePaths({ node, wanted: undefined }, merged, unowned);
  const keptSet = withNamedFields(node, claimedSet(node, kept));
  // And what nobody ever owned stays: only what the applier claimed by itself may go.
  const given = intersection(difference(mergedSet, keptSet), namedLast);
  // An empty list claims nothing, so that what holds only that would go too: not if it is owned or applied again.
  const wanted = union(namedOwned, everyPath(node, applied).children ?? EMPTY);
  return removePaths({ node, wanted }, merged, difference(given, wanted));
}

/** With every field of a struct that holds a path of the set: a set that was written down has only the leaves. */
function withNamedFields(node: SchemaNode, set: FieldSet): FieldSet {
  const full = new Map<PathElement, FieldSetNode>();
  for (const [element, entry] of set) {
    const name = fieldName(element);
    if (!entry.children) {
      full.set(element, entry);
      continue;
    }
    const member = entry.member || (name !== undefined && isNamedField(node, name));
    full.set(element, { member, children: withNamedFields(childNode(node, element), entry.children) });
  }
  return full;
}

/** The node of what an element leads to. */
function childNode(node: SchemaNode, element: PathElement): SchemaNode {
  const name = fieldName(element);
  if (name !== undefined) return entryNode(node, name);
  return node.kind === "list" ? node.items : entryNode(node, "");
}

interface Removal {
  readonly node: SchemaNode;
  /**
   * Undefined while sets are worked out: what had entries and has none left becomes null, because something is there
   * still. In the result it goes, unless somebody owns it or applies it so: then it stays, empty.
   */
  readonly wanted: FieldSet | undefined;
}

function removePaths(removal: Removal, value: unknown, paths: FieldSet): unknown {
  const shape = shapeOf(removal.node, value);
  if (shape === "list") return removeItems(removal, value, paths);
  return shape === "map" ? removeEntries(removal, value, paths) : value;
}

function removeEntries({ node, wanted }: Removal, value: unknown, paths: FieldSet): unknown {
  const map = asMap(value);
  if (!map || isAtomicMap(node)) return value;
  const entries = Object.entries(map);
  const left = entries.flatMap(([name, entry]): [string, unknown][] => {
    const element = fieldElement(name);
    const rest = removeBelow({ node: entryNode(node, name), wanted, element }, entry, paths);
    return rest === undefined ? [] : [[name, rest]];
  });
  return left.length === 0 && entries.length > 0 ? emptied(wanted) : Object.fromEntries(left);
}

function removeItems({ node, wanted }: Removal, value: unknown, paths: FieldSet): unknown {
  const [list, items] = [itemisedList(node), asList(value)];
  if (!list || !items) return value;
  const left = items.flatMap((item): unknown[] => {
    const element = itemElement(list, item);
    const rest = removeBelow({ node: list.items, wanted, element }, item, paths);
    return rest === undefined ? [] : [rest];
  });
  return left.length === 0 && items.length > 0 ? emptied(wanted) : left;
}

const emptied = (wanted: FieldSet | undefined) => (wanted ? undefined : null);

/** What is left of an entry or item; undefined when it goes. */
function removeBelow(
  { node, wanted, element }: Removal & { element: PathElement },
  value: unknown,
  paths: FieldSet,
): unknown {
  const removed = paths.get(element);
  if (removed?.member) return undefined;
  if (!removed?.children) return value;
  const place = wanted?.get(element);
  const rest = removePaths({ node, wanted: wanted && (place?.children ?? EMPTY) }, value, removed.children);
  if (rest === undefined && place?.member) return asList(value) ? [] : {};
  return rest;
}
