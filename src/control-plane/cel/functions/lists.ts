import type { CostBudget } from "../budget.ts";
import { areEqual, compareValues, createValueSet } from "../equality.ts";
import { intArg, member, type Overload, objectArg, plain, sizeOf } from "../overload.ts";
import * as types from "../types.ts";
import {
  type CelValue,
  celList,
  failure,
  isFailure,
  itemsOfList,
  kindOf,
  type ListValue,
  NONE,
  optionalOf,
} from "../values.ts";
import { OPERATORS } from "./operators.ts";

const { BOOL, BYTES, DOUBLE, DURATION, INT, STRING, TIMESTAMP, UINT } = types;
const A = types.param("A");
const LIST = types.listType(A);
const listArg = (value: CelValue | undefined) => objectArg("list", value);
const traversal = (args: readonly CelValue[]) => {
  const list = listArg(args[0]);
  let cost = 0;
  for (let index = 0; index < list.size; index++) cost += itemCost(list.at(index));
  return cost;
};

/** A string is read; anything else costs 1. */
function itemCost(item: CelValue): number {
  return typeof item === "string" ? Math.ceil(item.length * 0.1) : 1;
}

const COMPARABLE = [INT, UINT, DOUBLE, BOOL, DURATION, TIMESTAMP, STRING, BYTES];

function isSorted(list: ListValue, budget: CostBudget): CelValue {
  for (let index = 1; index < list.size; index++) {
    const order = compareValues(list.at(index - 1), list.at(index), budget);
    if (order === undefined) return failure("no such overload");
    if (order > 0) return false;
  }
  return true;
}

function extreme(list: ListValue, name: "min" | "max", budget: CostBudget): CelValue {
  if (list.size === 0) return failure(`${name} called on empty list`);
  let best = list.at(0);
  for (let index = 1; index < list.size; index++) {
    const order = compareValues(list.at(index), best, budget);
    if (order === undefined) return failure("no such overload");
    if (name === "min" ? order < 0 : order > 0) best = list.at(index);
  }
  return best;
}

const PLUS = OPERATORS.filter(({ name }) => name === "_+_");

/** The sum, by the operator of the type. */
function sum(list: ListValue, zero: CelValue, budget: CostBudget): CelValue {
  const add = PLUS.find(({ args: [left, right] }) => left?.kind === kindOf(zero) && right?.kind === kindOf(zero));
  let total = zero;
  for (let index = 0; index < list.size; index++) {
    const item = list.at(index);
    if (kindOf(item) !== kindOf(zero)) return failure("no such overload");
    total = add?.run([total, item], budget) ?? total;
    if (isFailure(total)) return total;
  }
  return total;
}

const ZEROS: ReadonlyArray<readonly [types.CelType, CelValue]> = [
  [INT, 0n],
  [UINT, { kind: "uint", value: 0n }],
  [DOUBLE, 0],
  [DURATION, { kind: "duration", nanos: 0n }],
];

function position(list: ListValue, item: CelValue, budget: CostBudget): bigint {
  for (let index = 0; index < list.size; index++) if (areEqual(list.at(index), item, budget)) return BigInt(index);
  return -1n;
}

function lastPosition(list: ListValue, item: CelValue, budget: CostBudget): bigint {
  for (let index = list.size - 1; index >= 0; index--) if (areEqual(list.at(index), item, budget)) return BigInt(index);
  return -1n;
}

const KUBERNETES = [
  ...COMPARABLE.flatMap((type) => [
    member("isSorted", [[types.listType(type)], BOOL], ([list], budget) => isSorted(listArg(list), budget), traversal),
    member("min", [[types.listType(type)], type], ([list], budget) => extreme(listArg(list), "min", budget), traversal),
    member("max", [[types.listType(type)], type], ([list], budget) => extreme(listArg(list), "max", budget), traversal),
  ]),
  ...ZEROS.map(([type, zero]) =>
    member("sum", [[types.listType(type)], type], ([list], budget) => sum(listArg(list), zero, budget), traversal),
  ),
  member(
    "indexOf",
    [[LIST, A], INT],
    ([list, item = null], budget) => position(listArg(list), item, budget),
    traversal,
  ),
  member(
    "lastIndexOf",
    [[LIST, A], INT],
    ([list, item = null], budget) => lastPosition(listArg(list), item, budget),
    traversal,
  ),
];

function slice(list: ListValue, from: bigint, to: bigint): CelValue {
  if (from < 0n || to < 0n) return failure(`cannot slice(${from}, ${to}), negative indexes not supported`);
  if (from > to) return failure(`cannot slice(${from}, ${to}), start index must be less than or equal to end index`);
  if (to > list.size) return failure(`cannot slice(${from}, ${to}), list is length ${list.size}`);
  return celList(itemsOfList(list).slice(Number(from), Number(to)));
}

function flatten(list: ListValue, depth: bigint, budget: CostBudget): CelValue[] {
  budget.charge(list.size);
  return itemsOfList(list).flatMap((item) => {
    const isList = typeof item === "object" && item?.kind === "list";
    return isList && depth > 0n ? flatten(item, depth - 1n, budget) : [item];
  });
}

function range(count: bigint, budget: CostBudget): CelValue {
  if (count < 0n) return celList([]);
  budget.charge(Number(count));
  budget.work(Number(count));
  return celList(Array.from({ length: Number(count) }, (_, index) => BigInt(index)));
}

function sort(list: ListValue, budget: CostBudget): CelValue {
  let isOrdered = true;
  const items = itemsOfList(list).toSorted((a, b) => {
    budget.work(1);
    const order = compareValues(a, b, budget);
    if (order === undefined) isOrdered = false;
    return order ?? 0;
  });
  return isOrdered ? celList(items) : failure("list elements must be comparable");
}

function distinct(list: ListValue, budget: CostBudget): CelValue {
  const seen = createValueSet(budget);
  const kept = itemsOfList(list).filter((item) => {
    if (seen.has(item)) return false;
    seen.add(item);
    return true;
  });
  return celList(kept);
}

const sizeCost = (args: readonly CelValue[]) => 10 + sizeOf(args[0]);

const EXTENSION = [
  member(
    "slice",
    [[LIST, INT, INT], LIST],
    ([list, from, to]) => slice(listArg(list), intArg(from), intArg(to)),
    sizeCost,
  ),
  member("flatten", [[types.listType(LIST)], LIST], ([list], budget) => celList(flatten(listArg(list), 1n, budget))),
  member("flatten", [[types.listType(types.DYN), INT], types.listType(types.DYN)], ([list, depth], budget) => {
    if (intArg(depth) < 0n) return failure("level must be non-negative");
    return celList(flatten(listArg(list), intArg(depth), budget));
  }),
  ...COMPARABLE.map((type) =>
    member(
      "sort",
      [[types.listType(type)], types.listType(type)],
      ([list], budget) => sort(listArg(list), budget),
      sizeCost,
    ),
  ),
  plain("lists.range", [[INT], types.listType(INT)], ([count], budget) => range(intArg(count), budget)),
  member("reverse", [[LIST], LIST], ([list]) => celList(itemsOfList(listArg(list)).toReversed()), sizeCost),
  member("distinct", [[LIST], LIST], ([list], budget) => distinct(listArg(list), budget), sizeCost),
];

/** Compares each item of one list with each of the other, and costs as much. */
const setCost = (args: readonly CelValue[]) => 1 + sizeOf(args[0]) * sizeOf(args[1]);

function containsAll(list: ListValue, wanted: ListValue, budget: CostBudget): boolean {
  const known = createValueSet(budget);
  for (const item of itemsOfList(list)) known.add(item);
  return itemsOfList(wanted).every((item) => known.has(item));
}

function intersects(a: ListValue, b: ListValue, budget: CostBudget): boolean {
  const known = createValueSet(budget);
  for (const item of itemsOfList(a)) known.add(item);
  return itemsOfList(b).some((item) => known.has(item));
}

const SETS = [
  plain(
    "sets.contains",
    [[LIST, LIST], BOOL],
    ([a, b], budget) => containsAll(listArg(a), listArg(b), budget),
    setCost,
  ),
  plain(
    "sets.intersects",
    [[LIST, LIST], BOOL],
    ([a, b], budget) => intersects(listArg(a), listArg(b), budget),
    setCost,
  ),
  plain(
    "sets.equivalent",
    [[LIST, LIST], BOOL],
    ([a, b], budget) => {
      return containsAll(listArg(a), listArg(b), budget) && containsAll(listArg(b), listArg(a), budget);
    },
    (args) => 1 + 2 * sizeOf(args[0]) * sizeOf(args[1]),
  ),
];

const OPTIONAL = types.optionalType(A);

function isZero(value: CelValue): boolean {
  if (typeof value === "object" && value !== null) {
    if (value.kind === "uint") return value.value === 0n;
    if (value.kind === "duration") return value.nanos === 0n;
    if (value.kind === "list" || value.kind === "map") return value.size === 0;
    return value.kind === "bytes" && value.bytes.length === 0;
  }
  return value === null || value === 0n || value === 0 || value === "" || value === false;
}

const OPTIONALS = [
  plain("optional.of", [[A], OPTIONAL], ([value = null]) => optionalOf(value)),
  plain("optional.ofNonZeroValue", [[A], OPTIONAL], ([value = null]) => (isZero(value) ? NONE : optionalOf(value))),
  plain("optional.none", [[], OPTIONAL], () => NONE),
  member("hasValue", [[OPTIONAL], BOOL], ([value]) => objectArg("optional", value).value !== undefined),
  member("value", [[OPTIONAL], A], ([value]) => {
    const { value: inner } = objectArg("optional", value);
    return inner === undefined ? failure("optional.none() dereference") : inner;
  }),
  member("or", [[OPTIONAL, OPTIONAL], OPTIONAL], ([a, b = NONE]) => {
    return objectArg("optional", a).value === undefined ? b : objectArg("optional", a);
  }),
  member("orValue", [[OPTIONAL, A], A], ([a, b = null]) => {
    const { value } = objectArg("optional", a);
    return value === undefined ? b : value;
  }),
];

/** Kubernetes' functions of lists, cel-go's list and set extensions, and optionals. */
export const LIST_FUNCTIONS: readonly Overload[] = [...KUBERNETES, ...EXTENSION, ...SETS, ...OPTIONALS];
