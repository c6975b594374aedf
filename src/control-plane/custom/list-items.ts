import { type FieldError, fieldPath } from "../../api/field-error.ts";
import { isRecord } from "../../api/object.ts";
import { duplicate, invalid } from "../../api/validation/problems.ts";
import { additionalOf, itemsOf, propertyOf, type Schema } from "./schema-props.ts";

/** Repeated items of a list of type `set` or `map`: server-side apply could not tell them apart. */
export function validateListItems(schema: Schema, value: unknown, path = ""): FieldError[] {
  if (Array.isArray(value)) return checkList(schema, value, path);
  if (!isRecord(value)) return [];
  const additional = additionalOf(schema);
  return Object.entries(value).flatMap(([name, item]) => {
    const field = propertyOf(schema, name);
    if (field) return validateListItems(field, item, fieldPath(path, name));
    return typeof additional === "object" ? validateListItems(additional, item, `${path}[${name}]`) : [];
  });
}

function checkList(schema: Schema, list: readonly unknown[], path: string): FieldError[] {
  const errors = checkUnique(schema, list, path);
  const items = itemsOf(schema);
  if (items) errors.push(...list.flatMap((item, index) => validateListItems(items, item, `${path}[${index}]`)));
  return errors;
}

function checkUnique(schema: Schema, list: readonly unknown[], path: string): FieldError[] {
  const type = schema["x-kubernetes-list-type"];
  if (type === "set") return duplicatesOf(list, path);
  if (type !== "map") return [];
  const misplaced = list.findIndex((item) => item !== null && !isRecord(item));
  if (misplaced !== -1) {
    const at = `${path}[${misplaced}]`;
    return [invalid(at, list[misplaced], "must be an object for an array of list-type map")];
  }
  const names = schema["x-kubernetes-list-map-keys"] ?? [];
  return duplicatesOf(
    list.map((item) => keyOf(item, names)),
    path,
  );
}

function keyOf(item: unknown, names: readonly string[]): Record<string, unknown> {
  if (!isRecord(item)) return {};
  return Object.fromEntries(names.filter((name) => Object.hasOwn(item, name)).map((name) => [name, item[name]]));
}

/** Each repeated value is reported once, at its second place. */
function duplicatesOf(values: readonly unknown[], path: string): FieldError[] {
  const seen = new Map<string, number>();
  return values.flatMap((value, index) => {
    const key = canonical(value);
    const times = (seen.get(key) ?? 0) + 1;
    seen.set(key, times);
    return times === 2 ? [duplicate(`${path}[${index}]`, value)] : [];
  });
}

/** The same text for the same value, whatever the order of its fields. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, item: unknown) => {
    return isRecord(item) ? Object.fromEntries(Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1))) : item;
  });
}
