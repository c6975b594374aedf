import type { FieldError } from "../../../api/field-error.ts";
import { checkDnsSubdomain } from "../../../api/validation/names.ts";
import { invalidEach, required, tooLong } from "../../../api/validation/problems.ts";

const MAX_BYTES = 63;

/** A CSI driver as others refer to it: shorter than its object's name may be, and in whatever case. */
export function validateCsiDriverName(path: string, name: string): FieldError[] {
  return [
    ...(name === "" ? [required(path)] : []),
    ...(Buffer.byteLength(name) > MAX_BYTES ? [tooLong(path, MAX_BYTES)] : []),
    ...invalidEach(path, name, checkDnsSubdomain(name.toLowerCase())),
  ];
}
