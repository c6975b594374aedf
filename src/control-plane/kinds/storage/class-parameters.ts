import type { FieldError } from "../../../api/field-error.ts";
import { checkQualifiedName } from "../../../api/validation/names.ts";
import { forbidden, invalid, invalidEach, required, tooLong } from "../../../api/validation/problems.ts";
import { isSame } from "../rules/semantic-changes.ts";

const MAX_PARAMETERS = 512;
const MAX_PARAMETERS_BYTES = 256 * 1024;

/** The problems of a class's provisioner, a qualified name whose case does not matter. */
export function validateProvisioner(path: string, provisioner: string): FieldError[] {
  if (provisioner === "") return [required(path)];
  const name = provisioner.toLowerCase();
  return invalidEach(path, name, checkQualifiedName(name));
}

/** The problems of the parameters of a class. */
export function validateParameters(path: string, parameters: Record<string, string> = {}): FieldError[] {
  const entries = Object.entries(parameters);
  if (entries.length > MAX_PARAMETERS) return [tooLong(path, MAX_PARAMETERS)];
  const errors = Object.hasOwn(parameters, "") ? [invalid(path, "", "field can not be empty.")] : [];
  const bytes = entries.reduce((sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(value), 0);
  return bytes > MAX_PARAMETERS_BYTES ? [...errors, tooLong(path, MAX_PARAMETERS_BYTES)] : errors;
}

/** A problem when the value has changed: volumes that were made by the class would no longer fit it. */
export function keep(path: string, next: unknown, current: unknown): FieldError[] {
  return isSame(current, next) ? [] : [forbidden(path, `updates to ${path} are forbidden.`)];
}
