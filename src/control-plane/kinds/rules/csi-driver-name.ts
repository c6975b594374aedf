import type { FieldError } from "../../../api/field-error.ts";
import { checkDnsSubdomain } from "../../../api/validation/names.ts";
import { invalidEach, required, tooLong } from "../../../api/validation/problems.ts";

const MAX_BYTES = 63;

/**
 * The problems of a reference to a CSI driver. It is shorter than the name of its object may be, and its case does not
 * matter.
 */
export function validateCsiDriverName(path: string, name: string): FieldError[] {
  if (name === "") return [required(path)];
  return [
    ...(Buffer.byteLength(name) > MAX_BYTES ? [tooLong(path, MAX_BYTES)] : []),
    ...invalidEach(path, name, checkDnsSubdomain(name.toLowerCase())),
  ];
}
