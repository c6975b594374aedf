import type { FieldError } from "../../../api/field-error.ts";
import { parseQuantity } from "../../../api/quantity.ts";
import { checkQualifiedName } from "../../../api/validation/names.ts";
import { invalid, invalidEach } from "../../../api/validation/problems.ts";

const NANOS_PER_UNIT = 10n ** 9n;

/** The resources that are counted and not measured, of which a half makes no sense. */
const INTEGER_RESOURCES = new Set([
  "pods",
  "services",
  "replicationcontrollers",
  "resourcequotas",
  "secrets",
  "configmaps",
  "persistentvolumeclaims",
  "services.nodeports",
  "services.loadbalancers",
]);

const COMPUTE_RESOURCES = ["cpu", "memory", "ephemeral-storage"];

const isHugePages = (name: string) => name.startsWith("hugepages-");

/** True for the resources whose limits may exceed what exists. */
export function isOvercommitAllowed(name: string): boolean {
  return !name.includes("/") ? !isHugePages(name) : isNative(name);
}

const isNative = (name: string) => !name.includes("/") || name.split("/")[0]?.endsWith("kubernetes.io") === true;
const isExtended = (name: string) => !isNative(name) && !name.startsWith("requests.");

/** The problems of an amount, which must not be negative, and must be whole for a counted resource. */
export function validateAmount(path: string, name: string, amount: string): FieldError[] {
  const nanos = parseQuantity(amount)?.nanos ?? 0n;
  const errors = nanos < 0n ? [invalid(path, amount, "must be greater than or equal to 0")] : [];
  const isCount = INTEGER_RESOURCES.has(name) || isExtended(name);
  return isCount && nanos % NANOS_PER_UNIT !== 0n ? [...errors, invalid(path, amount, "must be an integer")] : errors;
}

/** The problems of a resource's name for which a limit is set, for containers or for anything. */
export function validateResourceName(path: string, name: string, ofContainer: boolean): FieldError[] {
  const errors = invalidEach(path, name, checkQualifiedName(name));
  if (errors.length > 0) return errors;
  if (!name.includes("/")) {
    if (!COMPUTE_RESOURCES.includes(name) && !isHugePages(name) && !isStandard(name)) {
      errors.push(invalid(path, name, "must be a standard resource type or fully qualified"));
    }
    if (ofContainer && !COMPUTE_RESOURCES.includes(name) && !isHugePages(name)) {
      errors.push(invalid(path, name, "must be a standard resource for containers"));
    }
  } else if (ofContainer && !isNative(name) && !isExtended(name)) {
    errors.push(invalid(path, name, "doesn't follow extended resource name standard"));
  }
  return errors;
}

const isStandard = (name: string) =>
  INTEGER_RESOURCES.has(name) ||
  name === "storage" ||
  name === "requests.storage" ||
  name.startsWith("requests.hugepages-") ||
  COMPUTE_RESOURCES.some((resource) => name === `requests.${resource}` || name === `limits.${resource}`);
