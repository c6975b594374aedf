import type { FieldError } from "../../../api/field-error.ts";
import { compareQuantities } from "../../../api/quantity.ts";
import { invalid } from "../../../api/validation/problems.ts";

/** How many nodes or pods may mount a volume, and for what. */
export const ACCESS_MODES: readonly string[] = ["ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod"];

/** What a container finds at the volume's path. */
export const VOLUME_MODES: readonly string[] = ["Block", "Filesystem"];

/** A volume of no size holds nothing. */
export function validatePositive(path: string, size: string): FieldError[] {
  return compareQuantities(size, "0") > 0 ? [] : [invalid(path, size, "must be greater than zero")];
}
