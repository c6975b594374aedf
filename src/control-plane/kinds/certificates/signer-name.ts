import type { FieldError } from "../../../api/field-error.ts";
import { checkDnsLabel, checkDnsSubdomain } from "../../../api/validation/names.ts";
import { invalid, required, tooLong } from "../../../api/validation/problems.ts";

const MAX_DOMAIN_BYTES = 253;
/** A domain, and as its path a namespace and a name with a dot between. */
const MAX_BYTES = MAX_DOMAIN_BYTES + 1 + 63 + 1 + 253;

/** What is wrong with `example.com/name` as a signer of certificates (pkg/api/validation, `ValidateSignerName`). */
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

/** Of the first that is wrong: the same rule told of each would help nobody. */
function validateLabels(field: string, text: string, check: (label: string) => string[]): FieldError[] {
  const wrong = text.split(".").find((label) => check(label).length > 0);
  if (wrong === undefined) return [];
  return check(wrong).map((detail) => invalid(field, text, `validating label ${JSON.stringify(wrong)}: ${detail}`));
}
