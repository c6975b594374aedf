import type { ListNode, SchemaNode } from "../schema-node.ts";
import { type FieldSet, type FieldSetDraft, type FieldSetDraftNode, LEAF } from "./field-set.ts";
import { fieldElement, itemElement } from "./path-element.ts";
import { asList, asMap, entryNode, isAtomicMap, isEmpty, isNamedField, itemisedList, shapeOf } from "./shape.ts";

/**
 * Returns what an applied configuration claims: its leaves, the items of its lists and the keys of its maps. The fields
 * of a struct that merely hold others are not claimed by themselves.
 */
export function claimedSet(node: SchemaNode, value: unknown): FieldSet {
  return childrenOf({ node, claims: true }, value) ?? new Map();
}

/** Returns every path at and below the value. */
export function everyPath(node: SchemaNode, value: unknown): FieldSetDraftNode {
  const children = childrenOf({ node, claims: false }, value);
  return children ? { member: true, children } : LEAF;
}

interface Walk {
  readonly node: SchemaNode;
  /** True for only what a configuration claims, without the fields that hold it. */
  readonly claims: boolean;
}

/** The set below a value; undefined for a leaf. */
function childrenOf(walk: Walk, value: unknown): FieldSetDraft | undefined {
  const shape = shapeOf(walk.node, value);
  const children = shape === "scalar" ? undefined : shape === "list" ? itemsOf(walk, value) : entriesOf(walk, value);
  return children?.size ? children : undefined;
}

function itemsOf({ node, claims }: Walk, value: unknown): FieldSetDraft | undefined {
  const list = itemisedList(node);
  const items = asList(value);
  if (!list || !items) return undefined;
  const set: FieldSetDraft = new Map();
  for (const item of items) {
    const element = itemElement(list, item);
    // Items that cannot be told apart are owned together, as one thing.
    if (set.has(element)) set.set(element, LEAF);
    else set.set(element, itemNode(list, item, claims));
  }
  return set;
}

function itemNode(list: ListNode, item: unknown, claims: boolean): FieldSetDraftNode {
  const children = childrenOf({ node: list.items, claims }, item);
  return children ? { member: true, children } : LEAF;
}

function entriesOf({ node, claims }: Walk, value: unknown): FieldSetDraft | undefined {
  const entries = asMap(value);
  if (!entries || isAtomicMap(node)) return undefined;
  const set: FieldSetDraft = new Map();
  for (const name of Object.keys(entries)) {
    const entry = entries[name];
    if (entry === undefined) continue;
    const child = entryNode(node, name);
    const children = childrenOf({ node: child, claims }, entry);
    const member = !claims || !isNamedField(node, name) || isClaimed(child, entry);
    if (member || children) set.set(fieldElement(name), children ? { member, children } : LEAF);
  }
  return set;
}

/** True for a leaf. An empty list with items that can be told apart is no leaf: nothing in it is claimed. */
function isClaimed(node: SchemaNode, value: unknown): boolean {
  const shape = shapeOf(node, value);
  if (shape === "scalar" || value === null) return true;
  return shape === "list" ? !itemisedList(node) : isAtomicMap(node) || isEmpty(asMap(value));
}
