import { isRecord } from "../../api/object.ts";
import type { CelValue } from "./values.ts";

/** A value of JSON as expressions see it that know no schema: whole numbers are ints. */
export function plainValue(value: unknown): CelValue {
  if (typeof value === "string" || typeof value === "boolean") return value;
  if (typeof value === "number") return Number.isInteger(value) ? BigInt(value) : value;
  if (typeof value === "bigint") return value;
  if (Array.isArray(value)) {
    return { kind: "list", size: value.length, at: (index) => plainValue(value[index]) };
  }
  if (!isRecord(value)) return null;
  const size = Object.keys(value).length;
  const find = (key: CelValue) => {
    const isThere = typeof key === "string" && Object.hasOwn(value, key) && value[key] !== undefined;
    return isThere ? plainValue(value[key]) : undefined;
  };
  return { kind: "map", isObject: false, size, find, keys: () => Object.keys(value) };
}
