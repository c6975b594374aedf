import type { FieldError } from "../../../api/field-error.ts";
import { checkDnsLabel, checkDnsSubdomain } from "../../../api/validation/names.ts";
import { invalid, invalidEach, required, tooLong } from "../../../api/validation/problems.ts";
import { validateCsiDriverName } from "../rules/csi-driver-name.ts";

const MAX_POOL_NAME = 253;
const MAX_IDENTIFIER = 32;
const IDENTIFIER_RULE =
  "a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric characters or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName', regex used for validation is '[A-Za-z_][A-Za-z0-9_]*')";

/** The problems of a driver's name: the rules are those for CSI drivers. */
export const validateDriverName = validateCsiDriverName;

/** The problems of the name of a device, a request or a subrequest. */
export function validateLabelName(path: string, name: string): FieldError[] {
  return invalidEach(path, name, checkDnsLabel(name));
}

/** The problems of the name of a pool, which may have several parts. */
export function validatePoolName(path: string, name: string): FieldError[] {
  if (name === "") return [required(path)];
  return [
    ...(Buffer.byteLength(name) > MAX_POOL_NAME ? [tooLong(path, MAX_POOL_NAME)] : []),
    ...name.split("/").flatMap((part) => invalidEach(path, part, checkDnsSubdomain(part))),
  ];
}

/** The problems of the name of an attribute or capacity, which may have a domain: `example.com/model`, `model`. */
export function validateQualifiedName(path: string, name: string): FieldError[] {
  const [domain = "", identifier, ...rest] = name.split("/");
  if (identifier === undefined) return validateIdentifier(path, domain);
  // Upstream overlooks names with more parts.
  if (rest.length > 0) return [];
  return [
    ...(domain === "" ? [invalid(path, "", "the domain must not be empty")] : validateDriverName(path, domain)),
    ...(identifier === "" ? [invalid(path, "", "the name must not be empty")] : validateIdentifier(path, identifier)),
  ];
}

/** The problems of a name that must have a domain. */
export function validateFullyQualifiedName(path: string, name: string): FieldError[] {
  const rule = "a fully qualified name must be a domain and a name separated by a slash";
  return [...validateQualifiedName(path, name), ...(name.includes("/") ? [] : [invalid(path, name, rule)])];
}

function validateIdentifier(path: string, name: string): FieldError[] {
  return [
    ...(Buffer.byteLength(name) > MAX_IDENTIFIER ? [tooLong(path, MAX_IDENTIFIER)] : []),
    ...(/^[A-Za-z_][A-Za-z0-9_]*$/.test(name) ? [] : [invalid(path, name, IDENTIFIER_RULE)]),
  ];
}
