import { type FieldError, showValue } from "../field-error.ts";

/** The kinds of complaint about a field, in kube-apiserver's wording: users search for these sentences. */

/** The field is absent or empty, and must not be. */
export function required(path: string, detail = ""): FieldError {
  return {
    path,
    reason: "FieldValueRequired",
    message: detail === "" ? "Required value" : `Required value: ${detail}`,
  };
}

/** The field is set, and wrong for the reason given. */
export function invalid(path: string, value: unknown, detail: string): FieldError {
  return { path, reason: "FieldValueInvalid", message: `Invalid value: ${showValue(value)}: ${detail}` };
}

/** The value is none of the known ones, which are shown in the given order; it is upstream's and not always sorted. */
export function unsupported(path: string, value: unknown, supported: readonly string[]): FieldError {
  const list = supported.map(showValue).join(", ");
  return {
    path,
    reason: "FieldValueNotSupported",
    message: `Unsupported value: ${showValue(value)}: supported values: ${list}`,
  };
}

/** The value occurs twice in a list whose entries must all differ. */
export function duplicate(path: string, value: unknown): FieldError {
  return { path, reason: "FieldValueDuplicate", message: `Duplicate value: ${showValue(value)}` };
}

/** The value refers to something that the pod does not have. */
export function notFound(path: string, value: unknown, detail = ""): FieldError {
  const message = `Not found: ${showValue(value)}`;
  return { path, reason: "FieldValueNotFound", message: detail === "" ? message : `${message}: ${detail}` };
}

/** The field must not be set here. */
export function forbidden(path: string, detail: string): FieldError {
  return { path, reason: "FieldValueForbidden", message: `Forbidden: ${detail}` };
}

/** The value is longer than its limit. */
export function tooLong(path: string, maxBytes: number): FieldError {
  return { path, reason: "FieldValueTooLong", message: `Too long: may not be more than ${maxBytes} bytes` };
}

/** The list has more entries than the limit. */
export function tooMany(path: string, actual: number, max: number): FieldError {
  const message = `Too many: ${actual}: must have at most ${max} ${max === 1 ? "item" : "items"}`;
  return { path, reason: "FieldValueTooMany", message };
}

/** Reports each detail as an Invalid value of the field; the checks of `names.ts` return such details. */
export function invalidEach(path: string, value: unknown, details: readonly string[]): FieldError[] {
  return details.map((detail) => invalid(path, value, detail));
}

/** The value must be set, and be one of the supported values. */
export function oneOf(path: string, value: string | undefined, supported: readonly string[]): FieldError[] {
  if (value === undefined || value === "") return [required(path)];
  return supported.includes(value) ? [] : [unsupported(path, value, supported)];
}

/** The value may be unset; otherwise it must be one of the supported values. */
export function optionalOneOf(path: string, value: string | undefined, supported: readonly string[]): FieldError[] {
  return value === undefined || supported.includes(value) ? [] : [unsupported(path, value, supported)];
}

/** The value may be unset; otherwise it must be in the range. */
export function inRange(path: string, value: number | undefined, [min, max]: readonly [number, number]): FieldError[] {
  if (value === undefined || (value >= min && value <= max)) return [];
  return [invalid(path, value, `must be between ${min} and ${max}, inclusive`)];
}

/** The value may be unset; otherwise it must not be negative. */
export function notNegative(path: string, value: number | undefined): FieldError[] {
  return value === undefined || value >= 0 ? [] : [invalid(path, value, "must be greater than or equal to 0")];
}

/** A list is not checked further after this many problems. */
const MAX_PROBLEMS_A_LIST = 100;

/** Collects the problems of every item of a list, each with the item's path. */
export function each<Item>(
  path: string,
  items: readonly Item[] | undefined,
  check: (item: Item, path: string) => FieldError[],
): FieldError[] {
  const errors: FieldError[] = [];
  for (const [index, item] of (items ?? []).entries()) {
    errors.push(...check(item, `${path}[${index}]`));
    if (errors.length >= MAX_PROBLEMS_A_LIST) break;
  }
  return errors;
}
