import type { CostBudget } from "../budget.ts";
import { areEqual, compareValues } from "../equality.ts";
import { doubleArg, fitsType, intArg, type Overload, objectArg, plain, sizeOf, stringArg } from "../overload.ts";
import type { CelType } from "../types.ts";
import * as types from "../types.ts";
import {
  type CelValue,
  celBytes,
  celList,
  failure,
  kindOf,
  type ListValue,
  NONE,
  optionalOf,
  uintOf,
} from "../values.ts";
import { TIME_OPERATORS } from "./time-operators.ts";

const MIN_INT = -(2n ** 63n);
const MAX_INT = 2n ** 63n - 1n;
const MAX_UINT = 2n ** 64n - 1n;

/** The int, or the error when 64 bits do not hold it. */
export function toInt(value: bigint): CelValue {
  return value < MIN_INT || value > MAX_INT ? failure("integer overflow") : value;
}

/** The uint, or the error when 64 bits do not hold it. */
export function toUint(value: bigint): CelValue {
  return value < 0n || value > MAX_UINT ? failure("unsigned integer overflow") : uintOf(value);
}

const uintArg = (value: CelValue | undefined) => objectArg("uint", value).value;

type IntOperation = (a: bigint, b: bigint) => bigint;
type DoubleOperation = (a: number, b: number) => number;

/** An operator on ints, uints and, where it has a meaning, doubles. */
function arithmetic(name: string, whole: IntOperation, double?: DoubleOperation): Overload[] {
  const isDivision = name === "_/_" || name === "_%_";
  const problem = name === "_/_" ? "division by zero" : "modulus by zero";
  const int = plain(name, [[types.INT, types.INT], types.INT], ([a, b]) => {
    const divisor = intArg(b);
    return isDivision && divisor === 0n ? failure(problem) : toInt(whole(intArg(a), divisor));
  });
  const uint = plain(name, [[types.UINT, types.UINT], types.UINT], ([a, b]) => {
    const divisor = uintArg(b);
    return isDivision && divisor === 0n ? failure(problem) : toUint(whole(uintArg(a), divisor));
  });
  if (!double) return [int, uint];
  const signature = [[types.DOUBLE, types.DOUBLE], types.DOUBLE] as const;
  return [int, uint, plain(name, signature, ([a, b]) => double(doubleArg(a), doubleArg(b)))];
}

const ARITHMETIC = [
  ...arithmetic(
    "_+_",
    (a, b) => a + b,
    (a, b) => a + b,
  ),
  ...arithmetic(
    "_-_",
    (a, b) => a - b,
    (a, b) => a - b,
  ),
  ...arithmetic(
    "_*_",
    (a, b) => a * b,
    (a, b) => a * b,
  ),
  ...arithmetic(
    "_/_",
    (a, b) => a / b,
    (a, b) => a / b,
  ),
  ...arithmetic("_%_", (a, b) => a % b),
  plain("-_", [[types.INT], types.INT], ([a]) => toInt(-intArg(a))),
  plain("-_", [[types.DOUBLE], types.DOUBLE], ([a]) => -doubleArg(a)),
  plain("!_", [[types.BOOL], types.BOOL], ([a]) => a === false),
];

const joinCost = (args: readonly CelValue[]) => Math.ceil((sizeOf(args[0]) + sizeOf(args[1])) * 0.1);

const A = types.param("A");
const B = types.param("B");

const CONCATENATION = [
  plain("_+_", [[types.STRING, types.STRING], types.STRING], ([a, b]) => stringArg(a) + stringArg(b), joinCost),
  plain(
    "_+_",
    [[types.BYTES, types.BYTES], types.BYTES],
    ([a, b]) => celBytes(Buffer.concat([objectArg("bytes", a).bytes, objectArg("bytes", b).bytes])),
    joinCost,
  ),
  plain("_+_", [[types.listType(A), types.listType(A)], types.listType(A)], ([a, b], budget) => {
    return joinLists(objectArg("list", a), objectArg("list", b), budget);
  }),
];

/** One list after the other; of a set or map list, items that both have are kept once, where the first has them. */
function joinLists(a: ListValue, b: ListValue, budget: CostBudget): CelValue {
  budget.work(a.size + b.size);
  const items: CelValue[] = [];
  for (let index = 0; index < a.size; index++) items.push(a.at(index));
  const { listType } = a;
  for (let index = 0; index < b.size; index++) {
    const item = b.at(index);
    const same = listType ? items.findIndex((each) => isSameItem(listType, each, item, budget)) : -1;
    if (same === -1) items.push(item);
    else items[same] = item;
  }
  return { ...celList(items), ...(listType && { listType }) };
}

function isSameItem(
  listType: NonNullable<ListValue["listType"]>,
  a: CelValue,
  b: CelValue,
  budget: CostBudget,
): boolean {
  if (listType.type === "set") return areEqual(a, b, budget);
  budget.work(listType.keys.length);
  return listType.keys.every((key) => areEqual(keyOf(a, key), keyOf(b, key), budget));
}

function keyOf(item: CelValue, key: string): CelValue {
  return typeof item === "object" && item?.kind === "map" ? (item.find(key) ?? null) : null;
}

const smallerCost = (args: readonly CelValue[]) => Math.ceil(Math.min(sizeOf(args[0]), sizeOf(args[1])) * 0.1);

const EQUALITY = [
  plain("_==_", [[A, A], types.BOOL], ([a = null, b = null], budget) => areEqual(a, b, budget), smallerCost),
  plain("_!=_", [[A, A], types.BOOL], ([a = null, b = null], budget) => !areEqual(a, b, budget), smallerCost),
];

const NUMBERS = [types.INT, types.UINT, types.DOUBLE];
const ORDERED = [types.BOOL, types.STRING, types.BYTES, types.TIMESTAMP, types.DURATION];
const ORDERED_PAIRS: ReadonlyArray<readonly [CelType, CelType]> = [
  ...ORDERED.map((type) => [type, type] as const),
  ...NUMBERS.flatMap((left) => NUMBERS.map((right) => [left, right] as const)),
];

function ordering(name: string, holds: (order: number) => boolean): Overload[] {
  return ORDERED_PAIRS.map(([left, right]) => {
    const isText = left.kind === "string" || left.kind === "bytes";
    const run: Overload["run"] = ([a = null, b = null], budget) => {
      const order = compareValues(a, b, budget);
      return order === undefined ? failure("no such overload") : holds(order);
    };
    return plain(name, [[left, right], types.BOOL], run, isText ? smallerCost : undefined);
  });
}

const ORDER = [
  ...ordering("_<_", (order) => order < 0),
  ...ordering("_<=_", (order) => order <= 0),
  ...ordering("_>_", (order) => order > 0),
  ...ordering("_>=_", (order) => order >= 0),
];

const MEMBERSHIP = [
  plain(
    "@in",
    [[A, types.listType(A)], types.BOOL],
    ([item = null, list], budget) => {
      const range = objectArg("list", list);
      for (let index = 0; index < range.size; index++) if (areEqual(range.at(index), item, budget)) return true;
      return false;
    },
    (args) => sizeOf(args[1]),
  ),
  plain("@in", [[A, types.mapType(A, B)], types.BOOL], ([key = null, map]) => {
    return objectArg("map", map).find(key) !== undefined;
  }),
];

function itemAt(list: CelValue | undefined, index: CelValue | undefined): CelValue | undefined {
  const { size, at } = objectArg("list", list);
  const position = wholeIndex(index);
  return position !== undefined && position >= 0 && position < size ? at(position) : undefined;
}

/** An index of any number type; undefined for one that is not whole. */
function wholeIndex(index: CelValue | undefined): number | undefined {
  const value = typeof index === "object" && index?.kind === "uint" ? index.value : index;
  const number = Number(value);
  return Number.isInteger(number) ? number : undefined;
}

function indexProblem(index: CelValue | undefined): CelValue {
  return failure(
    `index out of bounds: ${typeof index === "object" && index?.kind === "uint" ? index.value : String(index)}`,
  );
}

function keyProblem(key: CelValue | undefined): CelValue {
  return failure(`no such key: ${typeof key === "object" && key?.kind === "uint" ? key.value : String(key)}`);
}

/** Reads an item or entry of a container, which may be an optional. */
function readEntry(container: CelValue | undefined, key: CelValue | undefined): CelValue | undefined {
  if (typeof container === "object" && container?.kind === "optional") {
    return container.value === undefined ? undefined : readEntry(container.value, key);
  }
  if (fitsType(container ?? null, types.listType(A))) return itemAt(container, key);
  return objectArg("map", container).find(key ?? null);
}

/** Null is a value like any other. */
const orElse = (value: CelValue | undefined, other: CelValue) => (value === undefined ? other : value);
const asOptional = (value: CelValue | undefined) => (value === undefined ? NONE : optionalOf(value));

const LIST = types.listType(A);
const MAP = types.mapType(A, B);

const INDEX = [
  plain("_[_]", [[LIST, types.INT], A], ([list, index]) => orElse(itemAt(list, index), indexProblem(index))),
  plain("_[_]", [[MAP, A], B], ([map, key]) => orElse(readEntry(map, key), keyProblem(key))),
  plain("_[_]", [[types.optionalType(LIST), types.INT], types.optionalType(A)], ([list, index]) => {
    return asOptional(readEntry(list, index));
  }),
  plain("_[_]", [[types.optionalType(MAP), A], types.optionalType(B)], ([map, key]) => asOptional(readEntry(map, key))),
  plain("_[?_]", [[LIST, types.INT], types.optionalType(A)], ([list, index]) => asOptional(itemAt(list, index))),
  plain("_[?_]", [[MAP, A], types.optionalType(B)], ([map, key]) => asOptional(readEntry(map, key))),
  plain("_[?_]", [[types.optionalType(LIST), types.INT], types.optionalType(A)], ([list, index]) => {
    return asOptional(readEntry(list, index));
  }),
  plain("_[?_]", [[types.optionalType(MAP), A], types.optionalType(B)], ([map, key]) =>
    asOptional(readEntry(map, key)),
  ),
];

const CHOICE = [plain("_?_:_", [[types.BOOL, A, A], A], () => failure("a choice is made by its step"))];

const SIZED: ReadonlyArray<readonly [CelType, (value: CelValue | undefined) => number]> = [
  [types.STRING, (value) => countCharacters(stringArg(value))],
  [types.BYTES, (value) => sizeOf(value)],
  [types.listType(A), (value) => sizeOf(value)],
  [types.mapType(A, B), (value) => sizeOf(value)],
];

function countCharacters(text: string): number {
  let count = text.length;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code >= 0xd800 && code < 0xdc00) count--;
  }
  return count;
}

const SIZES = SIZED.flatMap(([type, measure]) => [
  plain("size", [[type], types.INT], ([value]) => BigInt(measure(value))),
  { ...plain("size", [[type], types.INT], ([value]) => BigInt(measure(value))), member: true },
]);

const TYPES = [
  plain("type", [[A], types.TYPE], ([value = null]) => ({ kind: "type", name: typeNameOf(value) })),
  plain("dyn", [[A], types.DYN], ([value = null]) => value),
];

const TYPE_NAMES: Readonly<Record<string, string>> = {
  null: "null_type",
  timestamp: "google.protobuf.Timestamp",
  duration: "google.protobuf.Duration",
  optional: "optional_type",
  quantity: "kubernetes.Quantity",
  ip: "net.IP",
  cidr: "net.CIDR",
  url: "kubernetes.URL",
  semver: "kubernetes.Semver",
  format: "kubernetes.NamedFormat",
};

function typeNameOf(value: CelValue): string {
  const kind = kindOf(value);
  if (kind === "map") {
    const { isObject, typeName } = objectArg("map", value);
    if (isObject) return typeName ?? "object";
  }
  return TYPE_NAMES[kind] ?? kind;
}

/** The operators, and the functions that all types have. */
export const OPERATORS: readonly Overload[] = [
  ...ARITHMETIC,
  ...CONCATENATION,
  ...EQUALITY,
  ...ORDER,
  ...MEMBERSHIP,
  ...INDEX,
  ...CHOICE,
  ...SIZES,
  ...TYPES,
  ...TIME_OPERATORS,
];
