import { isRecord } from "../../api/object.ts";
import { fieldOf, hasDefault, itemsOf, type Schema } from "./schema-props.ts";

/**
 * The value with the defaults of its schema. A null where none is allowed counts as absent: it becomes the default, or
 * goes. The given value is never changed, and is returned itself where there is nothing to do.
 */
export function applyDefaults(schema: Schema, value: unknown): unknown {
  if (Array.isArray(value)) return defaultList(schema, value);
  return isRecord(value) ? defaultRecord(schema, value) : value;
}

function defaultList(schema: Schema, list: readonly unknown[]): unknown {
  const items = itemsOf(schema);
  if (!items) return list;
  const result = list.map((item) => {
    const isFilled = item === null && items.nullable !== true && hasDefault(items);
    return applyDefaults(items, isFilled ? structuredClone(items.default) : item);
  });
  return result.some((item, index) => item !== list[index]) ? result : list;
}

function defaultRecord(schema: Schema, record: Readonly<Record<string, unknown>>): unknown {
  const result = new Map(Object.entries(record));
  for (const [name, field] of Object.entries(schema.properties ?? {})) {
    if (hasDefault(field) && !result.has(name)) result.set(name, structuredClone(field.default));
  }
  for (const [name, item] of result) {
    const field = fieldOf(schema, name);
    if (typeof field !== "object") continue;
    const isAbsent = item === null && field.nullable !== true;
    if (isAbsent && !hasDefault(field)) result.delete(name);
    else result.set(name, applyDefaults(field, isAbsent ? structuredClone(field.default) : item));
  }
  const isSame =
    result.size === Object.keys(record).length && [...result].every(([name, item]) => record[name] === item);
  return isSame ? record : Object.fromEntries(result);
}
