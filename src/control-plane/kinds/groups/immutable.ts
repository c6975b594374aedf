import { isDeepStrictEqual } from "node:util";
import type { FieldError } from "../../../api/field-error.ts";
import { invalid } from "../../../api/validation/problems.ts";

/** The field may not change once the object is there. */
export function immutable(path: string, next: unknown, current: unknown): FieldError[] {
  return isDeepStrictEqual(next, current) ? [] : [invalid(path, next, "field is immutable")];
}
