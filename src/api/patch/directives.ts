import { type ApiError, badRequestError } from "../api-error.ts";
import { isRecord } from "../object.ts";
import { formatGoValue, goTypeOf } from "./go-format.ts";

/** This key stands in an object and says what to do with it as a whole: `replace` or `delete`. */
export const PATCH_DIRECTIVE = "$patch";
/** This key stands in an object and lists the only fields to keep, besides those that the patch sets. */
export const RETAIN_KEYS = "$retainKeys";
/** This prefix stands before `/` and a list's field, and gives the order of its items. */
export const SET_ELEMENT_ORDER = "$setElementOrder";
/** This prefix stands before `/` and the field of a list of scalars, and lists what to remove from it. */
export const DELETE_FROM_PRIMITIVE_LIST = "$deleteFromPrimitiveList";

/** True for a field of a patch that directs the merge and is no field of the object. */
export function isDirective(name: string): boolean {
  return name === PATCH_DIRECTIVE || name === RETAIN_KEYS || isListDirective(name);
}

/** True for a directive about the list in another field. */
export function isListDirective(name: string): boolean {
  return name.startsWith(SET_ELEMENT_ORDER) || name.startsWith(DELETE_FROM_PRIMITIVE_LIST);
}

/** Returns the field that `$setElementOrder/containers` is about. Throws BadRequest when it names none. */
export function directedField(name: string, directive: string): string {
  if (name.startsWith(`${directive}/`)) return name.slice(directive.length + 1);
  const list = directive === SET_ELEMENT_ORDER ? "setElementOrder" : "primitive";
  throw badRequestError(`invalid patch format of ${list} list`);
}

/**
 * Returns what a part of the patch adds where no value was: the part without nulls and without directives (which have
 * nothing to act on). Undefined for an object that is itself only a directive.
 */
export function addedValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(addedValue).filter((item) => item !== undefined);
  if (!isRecord(value)) return value;
  return Object.hasOwn(value, PATCH_DIRECTIVE) ? undefined : addedFields(value);
}

/** Returns the `addedValue` of an object whose own `$patch` has been carried out. */
export function addedFields(patch: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const entries = Object.entries(patch)
    .filter(([name, item]) => item !== null && !isDirective(name))
    .map(([name, item]): [string, unknown] => [name, addedValue(item)])
    .filter(([, item]) => item !== undefined);
  return Object.fromEntries(entries);
}

/** A `$patch` that is neither `replace` nor `delete`. */
export function unknownPatchTypeError(directive: unknown, patch: unknown): ApiError {
  return badRequestError(`unknown patch type: ${formatGoValue(directive)} in map: ${formatGoValue(patch)}`);
}

/** The value has another type than upstream's Go code asserts. */
export function wrongTypeError(expected: unknown, actual: unknown): ApiError {
  return badRequestError(`expected a ${goTypeOf(expected)}, but received a ${goTypeOf(actual)}`);
}
