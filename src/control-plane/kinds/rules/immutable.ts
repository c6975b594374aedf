import type { FieldError } from "../../../api/field-error.ts";
import { forbidden, invalid } from "../../../api/validation/problems.ts";
import { isSame } from "./semantic-changes.ts";

/** A problem when the value has changed. */
export function immutable(path: string, next: unknown, current: unknown): FieldError[] {
  return isSame(current, next) ? [] : [invalid(path, next, "field is immutable")];
}

/**
 * The problems of a change of a sealed secret or config map, of which neither the seal nor the data may change. The
 * fields are those with the data.
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
