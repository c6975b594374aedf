import { badRequestError } from "../api-error.ts";
import { isRecord } from "../object.ts";
import type { SchemaNode } from "../schema-node.ts";
import {
  addedFields,
  PATCH_DIRECTIVE,
  SET_ELEMENT_ORDER,
  unknownPatchTypeError,
  wrongTypeError,
} from "./directives.ts";
import { formatGoValue, goTypeOf } from "./go-format.ts";
import { type KeyOf, orderItems } from "./list-order.ts";
import { unprocessablePatchError } from "./patch-error.ts";

type Fields = Readonly<Record<string, unknown>>;
type Items = readonly unknown[];

/** How the items of a list merge. */
interface ListRules {
  /** If it is false, the patch's list replaces the other. */
  readonly merges: boolean;
  /** The field that tells items that are objects apart; undefined for scalars. */
  readonly mergeKey: string | undefined;
  readonly mergeItem: (current: Fields, patch: Fields) => Fields;
}

/** The rules of a list at a place in the schema. Where there is no schema the list is replaced. */
export function listRulesOf(
  node: SchemaNode | undefined,
  mergeObjects: (current: Fields, patch: Fields, node: SchemaNode | undefined) => Fields,
): ListRules {
  const list = node?.kind === "list" ? node : undefined;
  return {
    merges: list?.patch.includes("merge") ?? false,
    mergeKey: list?.mergeKey,
    mergeItem: (current, patch) => mergeObjects(current, patch, list?.items),
  };
}

/** A list that a patch has changed. */
interface MergedList {
  readonly items: Items;
  /** The order that a `$setElementOrder` takes for that of the live list. */
  readonly live: Items;
}

/** Returns the list as a patch of it leaves it. Neither argument is changed. */
export function mergeLists(current: Items, patch: Items, rules: ListRules): MergedList {
  if (!rules.merges) return { items: patch, live: current };
  const kind = commonType(current, patch);
  if (kind === undefined) return { items: current, live: current };
  if (kind !== "map[string]interface {}") {
    const items = [...new Set([...current, ...patch])];
    return { items: orderItems(items, { listed: patch, live: current, keyOf: itself }), live: current };
  }
  if (rules.mergeKey === undefined) throw badRequestError("cannot merge lists without merge key for struct");
  return mergeObjectLists(current.filter(isRecord), patch.filter(isRecord), { ...rules, mergeKey: rules.mergeKey });
}

const itself: KeyOf = (item) => item;

/** The type of all items; undefined when there are none. Throws for items of different types and for lists of lists. */
function commonType(current: Items, patch: Items): string | undefined {
  let common: string | undefined;
  for (const item of [...current, ...patch]) {
    if (Array.isArray(item)) throw unprocessablePatchError("lists of lists are not supported");
    const type = goTypeOf(item);
    common ??= type;
    if (type !== common || item === null) {
      throw badRequestError(`list element types are not identical: ${formatGoValue([current, patch])}`);
    }
  }
  return common;
}

function mergeObjectLists(current: readonly Fields[], patch: readonly Fields[], rules: KeyedRules): MergedList {
  const { kept, changes, isReplaced } = heedItemDirectives(current, patch, rules.mergeKey);
  if (isReplaced) return { items: changes.map(addedFields), live: current };
  const merged = mergeChanges(kept, changes, rules);
  const keyOf: KeyOf = (item) => keyOfItem(item, rules.mergeKey);
  // As upstream has it, new items take the places at the end that deleted ones leave.
  const live = [...kept, ...merged.slice(kept.length, current.length)];
  return { items: orderItems(merged, { listed: changes.map(keyOf), live: kept.map(keyOf), keyOf }), live };
}

interface KeyedRules extends ListRules {
  readonly mergeKey: string;
}

/** Items with `$patch` are no items: they delete others, or say that the patch's items are the whole list. */
function heedItemDirectives(
  current: readonly Fields[],
  patch: readonly Fields[],
  mergeKey: string,
): { kept: readonly Fields[]; changes: readonly Fields[]; isReplaced: boolean } {
  const deleted = new Set<unknown>();
  let isReplaced = false;
  for (const item of patch.filter(hasPatchDirective)) {
    const directive = item[PATCH_DIRECTIVE];
    if (directive === "replace") isReplaced = true;
    else if (directive === "delete") deleted.add(keyOfItem(item, mergeKey));
    else if (directive === "merge") throw badRequestError("merging lists cannot yet be specified in the patch");
    else throw unknownPatchTypeError(directive, item);
  }
  return {
    kept: deleted.size === 0 ? current : current.filter((item) => !deleted.has(item[mergeKey])),
    changes: patch.filter((item) => !hasPatchDirective(item)),
    isReplaced,
  };
}

function hasPatchDirective(item: unknown): boolean {
  return isRecord(item) && Object.hasOwn(item, PATCH_DIRECTIVE);
}

/** Each change merges into the first item of its key, or becomes an item. */
function mergeChanges(kept: readonly Fields[], changes: readonly Fields[], rules: KeyedRules): Fields[] {
  const merged = [...kept];
  const positions = new Map<unknown, number>();
  for (const [index, item] of kept.entries()) {
    const key = item[rules.mergeKey];
    if (key !== undefined && !positions.has(key)) positions.set(key, index);
  }
  for (const change of changes) {
    const key = keyOfItem(change, rules.mergeKey);
    const position = positions.get(key);
    const item = position === undefined ? undefined : merged[position];
    if (position !== undefined && item !== undefined) merged[position] = rules.mergeItem(item, change);
    else positions.set(key, merged.push(addedFields(change)) - 1);
  }
  return merged;
}

/**
 * Returns the list in the order of `$setElementOrder`. `order` holds scalars, or objects of which only the merge key
 * matters. `patch` is the same patch's change of the list, whose items must come in that order.
 */
export function reorderList(
  { items, live }: MergedList,
  { order, patch }: { order: Items; patch: Items },
  { mergeKey }: Pick<ListRules, "mergeKey">,
): Items {
  checkPatchOrder(patch, order, mergeKey);
  if (mergeKey === undefined && items.some((item) => typeof item === "object")) {
    throw badRequestError("invalid patch format of setElementOrder list");
  }
  const keyOf: KeyOf = mergeKey === undefined ? itself : (item) => keyOfItem(item, mergeKey);
  return orderItems(items, { listed: order.map(keyOf), live: live.map(keyOf), keyOf });
}

function checkPatchOrder(patch: Items, order: Items, mergeKey: string | undefined): void {
  if (patch.length === 0 || order.length === 0) return;
  const keyOf: KeyOf = mergeKey === undefined ? itself : (item) => keyOfItem(item, mergeKey);
  const expected = order.map(keyOf);
  let next = 0;
  for (const item of patch) {
    if (hasPatchDirective(item)) continue;
    next = expected.indexOf(keyOf(item), next) + 1;
    if (next > 0) continue;
    const lists = `${formatGoValue(patch)}\n doesn't match ${SET_ELEMENT_ORDER} list:\n${formatGoValue(order)}`;
    throw badRequestError(`The order in patch list:\n${lists}\n`);
  }
}

/** Throws when the item is no object or does not have the key. */
function keyOfItem(item: unknown, mergeKey: string): unknown {
  if (!isRecord(item)) throw wrongTypeError({}, item);
  if (Object.hasOwn(item, mergeKey)) return item[mergeKey];
  throw badRequestError(`map: ${formatGoValue(item)} does not contain declared merge key: ${mergeKey}`);
}
