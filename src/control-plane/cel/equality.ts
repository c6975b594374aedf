import type { CostBudget } from "./budget.ts";
import type { CelObject, CelValue, ListValue, MapValue, SemverValue } from "./values.ts";
import { itemsOfList, keyText, kindOf } from "./values.ts";

/** Whether two values are equal, as `==` has it: numbers of all types compare, other different types are unequal. */
export function areEqual(a: CelValue, b: CelValue, budget: CostBudget): boolean {
  budget.work(1);
  if (typeof a === "string" && typeof b === "string") {
    budget.work(Math.min(a.length, b.length) / 50);
    return a === b;
  }
  const number = numericOrder(a, b);
  if (number !== undefined) return number === 0;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return a === b;
  if (a.kind === "list" && b.kind === "list") return areListsEqual(a, b, budget);
  if (a.kind === "map" && b.kind === "map") return areMapsEqual(a, b, budget);
  if (a.kind === "optional" && b.kind === "optional") {
    if (a.value === undefined || b.value === undefined) return a.value === b.value;
    return areEqual(a.value, b.value, budget);
  }
  return areScalarsEqual(a, b);
}

function areScalarsEqual(a: CelObject, b: CelObject): boolean {
  if (a.kind === "bytes" && b.kind === "bytes") return Buffer.compare(a.bytes, b.bytes) === 0;
  if (a.kind === "timestamp" && b.kind === "timestamp") return a.nanos === b.nanos;
  if (a.kind === "duration" && b.kind === "duration") return a.nanos === b.nanos;
  if (a.kind === "quantity" && b.kind === "quantity") return a.nanos === b.nanos;
  if (a.kind === "type" && b.kind === "type") return a.name === b.name;
  if (a.kind === "ip" && b.kind === "ip") return a.family === b.family && a.bits === b.bits;
  if (a.kind === "cidr" && b.kind === "cidr") {
    return a.prefix === b.prefix && a.address.family === b.address.family && a.address.bits === b.address.bits;
  }
  if (a.kind === "url" && b.kind === "url") return a.text === b.text;
  if (a.kind === "format" && b.kind === "format") return a.name === b.name;
  if (a.kind === "semver" && b.kind === "semver") return compareSemver(a, b) === 0;
  return a === b;
}

function areListsEqual(a: ListValue, b: ListValue, budget: CostBudget): boolean {
  if (a.size !== b.size) return false;
  const listType = a.listType ?? b.listType;
  if (listType) {
    const others = itemsOfList(b);
    return itemsOfList(a).every((item) => {
      return others.some((other) => {
        return listType.type === "set"
          ? areEqual(item, other, budget)
          : haveSameKeys(listType.keys, item, other, budget) && areEqual(item, other, budget);
      });
    });
  }
  for (let index = 0; index < a.size; index++) {
    if (!areEqual(a.at(index), b.at(index), budget)) return false;
  }
  return true;
}

function haveSameKeys(keys: readonly string[], a: CelValue, b: CelValue, budget: CostBudget): boolean {
  budget.work(keys.length);
  return keys.every((key) => {
    const left = typeof a === "object" && a?.kind === "map" ? a.find(key) : undefined;
    const right = typeof b === "object" && b?.kind === "map" ? b.find(key) : undefined;
    return left === right;
  });
}

function areMapsEqual(a: MapValue, b: MapValue, budget: CostBudget): boolean {
  if (a.size !== b.size || a.typeName !== b.typeName) return false;
  return a.keys().every((key) => {
    const left = a.find(key);
    const right = b.find(key);
    return left !== undefined && right !== undefined && areEqual(left, right, budget);
  });
}

/** Less, equal or greater; NaN where a number is none. Undefined when the values are no two numbers. */
function numericOrder(a: CelValue, b: CelValue): number | undefined {
  const left = numberOf(a);
  const right = numberOf(b);
  if (left === undefined || right === undefined) return undefined;
  if (Number.isNaN(left) || Number.isNaN(right)) return Number.NaN;
  if (left < right) return -1;
  // JavaScript compares bigints with numbers exactly.
  return left > right ? 1 : 0;
}

function numberOf(value: CelValue): number | bigint | undefined {
  if (typeof value === "number" || typeof value === "bigint") return value;
  return typeof value === "object" && value?.kind === "uint" ? value.value : undefined;
}

/** The order of two values that have one: below zero, zero, above, NaN; undefined for values without an order. */
export function compareValues(a: CelValue, b: CelValue, budget: CostBudget): number | undefined {
  const number = numericOrder(a, b);
  if (number !== undefined) return number;
  if (typeof a === "string" && typeof b === "string") {
    budget.work(Math.min(a.length, b.length) / 50);
    return compareText(a, b);
  }
  if (typeof a === "boolean" && typeof b === "boolean") return Number(a) - Number(b);
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return undefined;
  if (a.kind === "bytes" && b.kind === "bytes") return Buffer.compare(a.bytes, b.bytes);
  const isTime = (a.kind === "timestamp" && b.kind === "timestamp") || (a.kind === "duration" && b.kind === "duration");
  return isTime ? compareBig(a.nanos, b.nanos) : undefined;
}

/** Less, equal or greater. */
export function compareBig(a: bigint, b: bigint): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** By code points, as bytes in UTF-8 are ordered. */
function compareText(a: string, b: string): number {
  if (a === b) return 0;
  const isPlain = !/[\ud800-\uffff]/.test(a) && !/[\ud800-\uffff]/.test(b);
  if (isPlain) return a < b ? -1 : 1;
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

/** The precedence of semantic versions. */
export function compareSemver(a: SemverValue, b: SemverValue): number {
  const core = compareBig(a.major, b.major) || compareBig(a.minor, b.minor) || compareBig(a.patch, b.patch);
  if (core !== 0) return core;
  if (a.prerelease.length === 0 || b.prerelease.length === 0) return b.prerelease.length - a.prerelease.length;
  for (const [index, left] of a.prerelease.entries()) {
    const right = b.prerelease[index];
    if (right === undefined) return 1;
    const order = comparePrerelease(left, right);
    if (order !== 0) return order;
  }
  return a.prerelease.length - b.prerelease.length;
}

function comparePrerelease(a: string, b: string): number {
  const isNumberA = /^\d+$/.test(a);
  const isNumberB = /^\d+$/.test(b);
  if (isNumberA && isNumberB) return compareBig(BigInt(a), BigInt(b));
  if (isNumberA !== isNumberB) return isNumberA ? -1 : 1;
  return compareText(a, b);
}

/** A collection that answers in constant time whether it has an equal value, where the values are keys of maps. */
export function createValueSet(budget: CostBudget) {
  const known = new Set<string>();
  const others: CelValue[] = [];
  const textOf = (value: CelValue) => (kindOf(value) === "bytes" ? undefined : keyText(value));
  return {
    has(value: CelValue): boolean {
      budget.work(1);
      const text = textOf(value);
      return text === undefined ? others.some((other) => areEqual(other, value, budget)) : known.has(text);
    },
    add(value: CelValue): void {
      const text = textOf(value);
      if (text === undefined) others.push(value);
      else known.add(text);
    },
  };
}
