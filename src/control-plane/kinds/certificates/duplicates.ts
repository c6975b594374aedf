import type { FieldError } from "../../../api/field-error.ts";
import { duplicate } from "../../../api/validation/problems.ts";

/**
 * The problems of entries that are repeated. It takes one pass, because such lists have up to twenty thousand entries.
 */
export function findDuplicates(names: readonly string[], pathOf: (index: number) => string): FieldError[] {
  const seen = new Set<string>();
  const errors: FieldError[] = [];
  for (const [index, name] of names.entries()) {
    if (seen.has(name)) errors.push(duplicate(pathOf(index), name));
    seen.add(name);
  }
  return errors;
}
