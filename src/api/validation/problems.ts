import { type FieldError, showValue } from "../field-error.ts";

/** The kinds of complaint about a field, in kube-apiserver's wording: users search for these sentences. */

/** Absent or empty, and must not be. */
export function required(path: string, detail = ""): FieldError {
  return {
    path,
    reason: "FieldValueRequired",
    message: detail === "" ? "Required value" : `Required value: ${detail}`,
  };
}

/** There, and wrong for the reason given. */
export function invalid(path: string, value: unknown, detail: string): FieldError {
  return { path, reason: "FieldValueInvalid", message: `Invalid value: ${showValue(value)}: ${detail}` };
}

/** None of the values that are known, which are shown in the given order: upstream's, which is not always sorted. */
export function unsupported(path: string, value: unknown, supported: readonly string[]): FieldError {
  const list = supported.map(showValue).join(", ");
  return {
    path,
    reason: "FieldValueNotSupported",
    message: `Unsupported value: ${showValue(value)}: supported values: ${list}`,
  };
}

/** There before, in a list of which every entry must differ. */
export function duplicate(path: string, value: unknown): FieldError {
  return { path, reason: "FieldValueDuplicate", message: `Duplicate value: ${showValue(value)}` };
}

/** Refers to something that the pod does not have. */
export function notFound(path: string, value: unknown): FieldError {
  return { path, reason: "FieldValueNotFound", message: `Not found: ${showValue(value)}` };
}

/** Must not be set here. */
export function forbidden(path: string, detail: string): FieldError {
  return { path, reason: "FieldValueForbidden", message: `Forbidden: ${detail}` };
}

/** Longer than its limit. */
export function tooLong(path: string, maxBytes: number): FieldError {
  return { path, reason: "FieldValueTooLong", message: `Too long: may not be more than ${maxBytes} bytes` };
}

/** More entries than the limit. */
export function tooMany(path: string, actual: number, max: number): FieldError {
  return { path, reason: "FieldValueTooMany", message: `Too many: ${actual}: must have at most ${max} items` };
}

/** Each detail as an Invalid value of the field: what the checks of `names.ts` return. */
export function invalidEach(path: string, value: unknown, details: readonly string[]): FieldError[] {
  return details.map((detail) => invalid(path, value, detail));
}

/** Required when empty, else one of the supported values. */
export function oneOf(path: string, value: string | undefined, supported: readonly string[]): FieldError[] {
  if (value === undefined || value === "") return [required(path)];
  return supported.includes(value) ? [] : [unsupported(path, value, supported)];
}

/** Fine when unset, else one of the supported values. */
export function optionalOneOf(path: string, value: string | undefined, supported: readonly string[]): FieldError[] {
  return value === undefined || supported.includes(value) ? [] : [unsupported(path, value, supported)];
}

/** Fine when unset. */
export function inRange(path: string, value: number | undefined, [min, max]: readonly [number, number]): FieldError[] {
  if (value === undefined || (value >= min && value <= max)) return [];
  return [invalid(path, value, `must be between ${min} and ${max}, inclusive`)];
}

/** Fine when unset. */
export function notNegative(path: string, value: number | undefined): FieldError[] {
  return value === undefined || value >= 0 ? [] : [invalid(path, value, "must be greater than or equal to 0")];
}

/** A list with more problems than this is not looked at further. */
const MAX_PROBLEMS_A_LIST = 100;

/** The problems of every item of a list, each with the item's path. */
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
