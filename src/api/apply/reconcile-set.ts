import type { SchemaNode } from "../schema-node.ts";
import { type FieldSet, type FieldSetNode, LEAF } from "./field-set.ts";
import { fieldName, type PathElement } from "./path-element.ts";
import { entryNode, isAtomicMap, itemisedList } from "./shape.ts";

/** Sets that are known to fit a schema. */
const fitting = new WeakMap<FieldSet, SchemaNode>();

/**
 * Returns the set as of today's schema. Where a map or list has become a single value since the set was written, each
 * owner of a part now owns the whole. Returns the set itself when nothing changes, which is nearly always the case.
 */
export function reconcileSet(node: SchemaNode, set: FieldSet): FieldSet {
  if (fitting.get(set) === node) return set;
  const reconciled = reconcile(node, set);
  fitting.set(reconciled, node);
  return reconciled;
}

function reconcile(node: SchemaNode, set: FieldSet): FieldSet {
  let changed: Map<PathElement, FieldSetNode> | undefined;
  for (const [element, entry] of set) {
    const child = entry.children && knownChild(node, element);
    if (!child || !entry.children) continue;
    const children = isSingleValue(child) ? undefined : reconcile(child, entry.children);
    if (children === entry.children) continue;
    changed = (changed ?? new Map(set)).set(element, children ? { member: entry.member, children } : LEAF);
  }
  return changed ?? set;
}

function knownChild(node: SchemaNode, element: PathElement): SchemaNode | undefined {
  const name = fieldName(element);
  if (name === undefined) return node.kind === "list" ? node.items : undefined;
  return node.kind === "struct" ? node.field(name) : entryNode(node, name);
}

const isSingleValue = (node: SchemaNode) => isAtomicMap(node) || (node.kind === "list" && !itemisedList(node));
