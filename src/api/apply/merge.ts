import type { ListNode, SchemaNode } from "../schema-node.ts";
import { own, setOwn } from "./json-value.ts";
import { itemElement, type PathElement } from "./path-element.ts";
import { asList, asMap, entryNode, isAtomicMap, isEmpty, itemisedList, shapeOf } from "./shape.ts";

/**
 * Returns the live value with the applied one laid over it. Leaves are taken from the applied value, maps and itemised
 * lists merge, and nothing is removed. Where the applied list reorders items that both have, its order wins. Undefined
 * stands for a value that is not there. The applied value must be valid (`check-applied.ts`).
 */
export function mergeApplied(node: SchemaNode, live: unknown, applied: unknown): unknown {
  if (applied === undefined) return live;
  if (live === undefined) return applied;
  const shape = shapeOf(node, applied);
  if (shape === "map") return mergeMaps(node, live, applied);
  const list = shape === "list" ? itemisedList(node) : undefined;
  return list ? mergeLists(list, live, applied) : applied;
}

function mergeMaps(node: SchemaNode, live: unknown, applied: unknown): unknown {
  const [left, right] = [asMap(live), asMap(applied)];
  if (isAtomicMap(node) || (isEmpty(left) && isEmpty(right))) return applied;
  const merged: Record<string, unknown> = { ...left };
  for (const name of Object.keys(right ?? {})) {
    setOwn(merged, name, mergeApplied(entryNode(node, name), left && own(left, name), right?.[name]));
  }
  return merged;
}

function mergeLists(list: ListNode, live: unknown, applied: unknown): unknown {
  const [left, right] = [asList(live) ?? [], asList(applied) ?? []];
  if (left.length === 0 && right.length === 0) return applied;
  const leftElements = left.map((item) => itemElement(list, item));
  const rightElements = right.map((item) => itemElement(list, item));
  const merged = new Map<PathElement, unknown>();
  const leftItems = itemsByElement(leftElements, left);
  for (const [index, element] of rightElements.entries()) {
    merged.set(element, mergeApplied(list.items, leftItems.get(element), right[index]));
  }
  return interleave(leftElements, rightElements).map((place) => {
    return place.live === undefined ? merged.get(place.element) : left[place.live];
  });
}

/** Items that share an element are not merged; the applied item replaces them. */
function itemsByElement(elements: readonly PathElement[], items: readonly unknown[]): Map<PathElement, unknown> {
  const index = new Map<PathElement, unknown>();
  for (const [position, element] of elements.entries()) {
    index.set(element, index.has(element) ? undefined : items[position]);
  }
  return index;
}

interface MergedPlace {
  readonly element: PathElement;
  /** The index of a live item that was not applied; undefined for an applied one. */
  readonly live: number | undefined;
}

/**
 * Computes the order of the merged list: the applied order, with the live items that it does not have where they were,
 * as far as the two orders allow. The applied elements are all different.
 */
function interleave(live: readonly PathElement[], applied: readonly PathElement[]): MergedPlace[] {
  const [isLive, isApplied] = [new Set(live), new Set(applied)];
  const shared = applied.filter((element) => isLive.has(element));
  const done = new Set<PathElement>();
  const order: MergedPlace[] = [];
  let [left, right, nextShared] = [0, 0, 0];
  const takeApplied = (element: PathElement) => {
    done.add(element);
    order.push({ element, live: undefined });
    right++;
    if (shared[nextShared] === element) nextShared++;
  };
  while (left < live.length || right < applied.length) {
    const [leftElement, rightElement] = [live[left], applied[right]];
    if (leftElement !== undefined && leftElement === rightElement) {
      takeApplied(leftElement);
      left++;
    } else if (leftElement !== undefined && !isApplied.has(leftElement)) {
      order.push({ element: leftElement, live: left++ });
    } else if (leftElement !== undefined && isOutOfTurn(leftElement)) {
      left++;
    } else {
      if (leftElement !== undefined && done.has(leftElement)) left++;
      if (rightElement !== undefined) takeApplied(rightElement);
    }
  }
  return order;

  /** True if both lists have the element but another shared item comes first; the applied order puts it in later. */
  function isOutOfTurn(element: PathElement): boolean {
    return right < applied.length && nextShared < shared.length && shared[nextShared] !== element;
  }
}
