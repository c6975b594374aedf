import type { SchemaNode } from "../schema-node.ts";
import { claimedSet, everyPath } from "./extract-set.ts";
import { difference, EMPTY, type FieldSet, type FieldSetNode, intersection, union } from "./field-set.ts";
import { fieldElement, fieldName, itemElement, type PathElement } from "./path-element.ts";
import { asList, asMap, entryNode, isAtomicMap, isNamedField, itemisedList, shapeOf } from "./shape.ts";

/** The claims that decide which fields are removed. */
interface Claims {
  /** The fields that the applier claimed the last time. */
  readonly last: FieldSet;
  /** All fields that any manager owns, the applier's new claims included. */
  readonly owned: FieldSet;
  /** The configuration that was merged. */
  readonly applied: unknown;
}

/** Removes what the applier claimed the last time and no manager claims now. */
export function pruneDisowned(node: SchemaNode, merged: unknown, { last, owned, applied }: Claims): unknown {
  const namedLast = withNamedFields(node, last);
  const namedOwned = withNamedFields(node, owned);
  const mergedSet = withNamedFields(node, claimedSet(node, merged));
  const bare = removePaths({ node, wanted: undefined }, merged, namedLast);
  const bareSet = withNamedFields(node, claimedSet(node, bare));
  // Fields that others own below something that the applier gave up come back, with everything that holds them.
  const unowned = difference(mergedSet, union(bareSet, namedOwned));
  const kept = removePaths({ node, wanted: undefined }, merged, unowned);
  const keptSet = withNamedFields(node, claimedSet(node, kept));
  // Fields without any owner stay, because only fields that the applier claimed by itself may be removed.
  const given = intersection(difference(mergedSet, keptSet), namedLast);
  // An empty list claims nothing, so anything that holds only such a list would be removed too. It stays if it is owned
  // or applied again.
  const wanted = union(namedOwned, everyPath(node, applied).children ?? EMPTY);
  return removePaths({ node, wanted }, merged, difference(given, wanted));
}

/**
 * Adds every field of a struct that holds a path of the set, because a set that was written down has only the leaves.
 */
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

/** Returns the schema node that an element leads to. */
function childNode(node: SchemaNode, element: PathElement): SchemaNode {
  const name = fieldName(element);
  if (name !== undefined) return entryNode(node, name);
  return node.kind === "list" ? node.items : entryNode(node, "");
}

interface Removal {
  readonly node: SchemaNode;
  /**
   * Undefined while sets are computed: a value that had entries and has none left becomes null, because it still
   * exists. In the result it is removed, unless a manager owns it or applies it so; then it stays, empty.
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

/** Returns what is left of an entry or item; undefined when it is removed. */
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
