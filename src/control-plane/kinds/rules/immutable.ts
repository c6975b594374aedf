import type { FieldError } from "../../../api/field-error.ts";
import { forbidden, invalid } from "../../../api/validation/problems.ts";
import { isSame } from "./semantic-changes.ts";

/** Fine while the value stays what it was. */
export function immutable(path: string, next: unknown, current: unknown): FieldError[] {
  return isSame(current, next) ? [] : [invalid(path, next, "field is immutable")];
}

/**
 * Secrets and config maps may be sealed: then neither the seal nor what it protects changes any more.
 * The fields are those that hold the data.
 */
export function validateSealed<Holder extends { immutable?: boolean }>(
  next: Holder,
  current: Holder,
  fields: readonly (keyof Holder & string)[],
): FieldError[] {
  if (current.immutable !== true) return [];
  const detail = "field is immutable when `immutable` is set";
  return [
    ...(next.immutable === true ? [] : [forbidden("immutable", detail)]),
    ...fields.filter((field) => !isSame(current[field], next[field])).map((field) => forbidden(field, detail)),
  ];
}
