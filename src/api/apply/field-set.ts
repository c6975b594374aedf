import { fieldElement, type PathElement, sortElements } from "./path-element.ts";

/**
 * A set of paths into an object, as a tree. Never changed once built: the operations below share what they can, and
 * return their first operand itself when they change nothing.
 */
export type FieldSet = ReadonlyMap<PathElement, FieldSetNode>;

/**
 * A node of the tree. The path that ends here is in the set (`member`), or longer paths are, or both; never neither.
 */
export interface FieldSetNode {
  readonly member: boolean;
  /** Never empty. */
  readonly children: FieldSet | undefined;
}

/** A node without longer paths. */
export const LEAF = { member: true, children: undefined } as const satisfies FieldSetNode;

export const EMPTY: FieldSet = new Map();

/** The paths in either set. */
export function union(a: FieldSet, b: FieldSet): FieldSet {
  if (a.size === 0) return b;
  let changed: Map<PathElement, FieldSetNode> | undefined;
  for (const [element, right] of b) {
    const left = a.get(element);
    const node = left ? joinNodes(left, right) : right;
    if (node !== left) changed = (changed ?? new Map(a)).set(element, node);
  }
  return changed ?? a;
}

function joinNodes(left: FieldSetNode, right: FieldSetNode): FieldSetNode {
  const children =
    left.children && right.children ? union(left.children, right.children) : (left.children ?? right.children);
  const member = left.member || right.member;
  return member === left.member && children === left.children ? left : { member, children };
}

/** The paths in both sets. */
export function intersection(a: FieldSet, b: FieldSet): FieldSet {
  const common = new Map<PathElement, FieldSetNode>();
  const [few, many] = a.size <= b.size ? [a, b] : [b, a];
  for (const [element, left] of few) {
    const right = many.get(element);
    if (!right) continue;
    const children = left.children && right.children ? intersection(left.children, right.children) : EMPTY;
    setNode(common, element, { member: left.member && right.member, children });
  }
  return common;
}

/** The paths in `a` and not in `b`. Only a path that itself is in `b` goes; longer paths through it stay. */
export function difference(a: FieldSet, b: FieldSet): FieldSet {
  return without(a, b, (left, right) => {
    const children = left.children && right.children ? difference(left.children, right.children) : left.children;
    return { member: left.member && !right.member, children };
  });
}

/** Does what `difference` does, and also removes the longer paths through a removed path. */
export function recursiveDifference(a: FieldSet, b: FieldSet): FieldSet {
  return without(a, b, (left, right) => {
    if (right.member) return { member: false, children: undefined };
    const children =
      left.children && right.children ? recursiveDifference(left.children, right.children) : left.children;
    return { member: left.member, children };
  });
}

type Reduce = (left: FieldSetNode, right: FieldSetNode) => FieldSetNode;

function without(a: FieldSet, b: FieldSet, reduce: Reduce): FieldSet {
  let changed: Map<PathElement, FieldSetNode> | undefined;
  const [few, many] = a.size <= b.size ? [a, b] : [b, a];
  for (const element of few.keys()) {
    if (!many.has(element)) continue;
    const [left, right] = [a.get(element), b.get(element)];
    if (!left || !right) continue;
    const node = reduce(left, right);
    if (node.member === left.member && node.children === left.children) continue;
    changed ??= new Map(a);
    setNode(changed, element, node);
  }
  return changed ?? a;
}

/** Sets the node, and keeps the promise that no node is empty. */
function setNode(set: Map<PathElement, FieldSetNode>, element: PathElement, node: FieldSetNode): void {
  const children = node.children?.size ? node.children : undefined;
  if (!node.member && !children) set.delete(element);
  else set.set(element, node.member && !children ? LEAF : { member: node.member, children });
}

/** True if both sets have the same paths. */
export function sameSet(a: FieldSet | undefined, b: FieldSet | undefined): boolean {
  if (a === b || !a || !b || a.size !== b.size) return a === b;
  for (const [element, left] of a) {
    const right = b.get(element);
    if (!right || left.member !== right.member || !sameSet(left.children, right.children)) return false;
  }
  return true;
}

/** True if that very path is in the set. */
export function hasPath(set: FieldSet, path: readonly PathElement[]): boolean {
  let node: FieldSetNode | undefined;
  let children: FieldSet | undefined = set;
  for (const element of path) {
    node = children?.get(element);
    children = node?.children;
  }
  return node?.member ?? false;
}

/** All paths: at each level first those that end there, in the order of FieldsV1. */
export function listPaths(set: FieldSet, prefix: readonly PathElement[] = []): PathElement[][] {
  const elements = sortedElements(set);
  const ending = elements.filter((element) => set.get(element)?.member).map((element) => [...prefix, element]);
  const further = elements.flatMap((element) => {
    const children = set.get(element)?.children;
    return children ? listPaths(children, [...prefix, element]) : [];
  });
  return [...ending, ...further];
}

/** Compares in the order of FieldsV1. */
export function sortedElements(set: FieldSet): PathElement[] {
  return sortElements([...set.keys()]);
}

/** A set while it is built: only its maps change. */
export type FieldSetDraft = Map<PathElement, FieldSetDraftNode>;

/** A node of a draft: replaced, never changed. */
export interface FieldSetDraftNode extends FieldSetNode {
  readonly children: FieldSetDraft | undefined;
}

/** Puts the path into the set. */
export function insertPath(draft: FieldSetDraft, path: readonly PathElement[]): void {
  insertNode(draft, path, LEAF);
}

/**
 * Puts the path into the set, with everything that the node has below it. The root itself is never in a set, so an
 * empty path changes nothing.
 */
export function insertNode(draft: FieldSetDraft, path: readonly PathElement[], node: FieldSetDraftNode): void {
  const last = path.at(-1);
  if (last === undefined) return;
  let set = draft;
  for (let depth = 0; depth < path.length - 1; depth++) set = descend(set, path[depth] ?? "");
  const known = set.get(last);
  const children = node.children ?? known?.children;
  set.set(last, known ? { member: known.member || node.member, children } : node);
}

function descend(set: FieldSetDraft, element: PathElement): FieldSetDraft {
  const known = set.get(element);
  if (known?.children) return known.children;
  const children: FieldSetDraft = new Map();
  set.set(element, { member: known?.member ?? false, children });
  return children;
}

/** A set of field paths, each with dots between its names: `["status", "metadata.generation"]`. */
export function fieldSetOf(paths: readonly string[]): FieldSet {
  const set: FieldSetDraft = new Map();
  for (const path of paths) insertPath(set, path.split(".").map(fieldElement));
  return set;
}
