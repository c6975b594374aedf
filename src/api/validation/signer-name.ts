import type { FieldError } from "../field-error.ts";
import { checkDnsLabel, checkDnsSubdomain } from "./names.ts";
import { invalid, required, tooLong } from "./problems.ts";

const MAX_DOMAIN_BYTES = 253;
/** The length of a domain with a path of a namespace, a dot and a name. */
const MAX_BYTES = MAX_DOMAIN_BYTES + 1 + 63 + 1 + 253;

/** The problems of a signer's name, `example.com/name` (pkg/api/validation, `ValidateSignerName`). */
export function validateSignerName(field: string, signerName: string): FieldError[] {
  if (signerName === "") return [required(field)];
  const [domain = "", path, ...more] = signerName.split("/");
  if (path === undefined || more.length > 0) {
    const detail = "must be a fully qualified domain and path of the form 'example.com/signer-name'";
    return [invalid(field, signerName, detail)];
  }
  const errors = Buffer.byteLength(domain) > MAX_DOMAIN_BYTES ? [tooLong(field, MAX_DOMAIN_BYTES)] : [];
  errors.push(...validateLabels(field, domain, checkDnsLabel));
  if (!domain.includes(".")) {
    errors.push(invalid(field, domain, "should be a domain with at least two segments separated by dots"));
  }
  errors.push(...validateLabels(field, path, checkDnsSubdomain));
  if (Buffer.byteLength(signerName) > MAX_BYTES) errors.push(tooLong(field, MAX_BYTES));
  return errors;
}

/** The problems of the first wrong label. Repeating the same rule for each label would help nobody. */
function validateLabels(field: string, text: string, check: (label: string) => string[]): FieldError[] {
  const wrong = text.split(".").find((label) => check(label).length > 0);
  if (wrong === undefined) return [];
  return check(wrong).map((detail) => invalid(field, text, `validating label ${JSON.stringify(wrong)}: ${detail}`));
}
