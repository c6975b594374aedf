import type { FieldError } from "../field-error.ts";
import type { Pod, ResourceRequirements } from "../gen/types.ts";
import { compareQuantities, parseQuantity } from "../quantity.ts";
import { amountOf, computeContainerRequests, isPodLevelResource } from "../resources.ts";
import { checkQualifiedName } from "./names.ts";
import { forbidden, invalid, invalidEach, required } from "./problems.ts";
import { validateClaimReferences } from "./resource-claims.ts";

const STANDARD_RESOURCES = ["cpu", "memory", "ephemeral-storage"];
const NANOS_PER_UNIT = 10n ** 9n;

const isHugePages = (name: string) => name.startsWith("hugepages-");
/** Only standard resources may be overcommitted. */
const isOvercommitAllowed = (name: string) => STANDARD_RESOURCES.includes(name);

/** Validates names and quantities, and that no request exceeds its limit. */
export function validateResources(
  path: string,
  resources: ResourceRequirements,
  claims: ReadonlySet<string>,
): FieldError[] {
  return [
    ...validateAmounts(path, resources, checkContainerResourceName),
    ...validateClaimReferences(`${path}.claims`, resources.claims, claims),
  ];
}

/**
 * Validates `spec.resources` of the pod as a whole, which must never be less than the sum of its containers' requests.
 */
export function validatePodLevelResources(path: string, pod: Pod): FieldError[] {
  const resources = pod.spec?.resources;
  if (!resources) return [];
  const errors = validateAmounts(path, resources, checkPodResourceName);
  if (resources.claims?.length)
    errors.push(forbidden(`${path}.claims`, "claims may not be set for Resources at pod-level"));
  for (const [name, sum] of Object.entries(computeContainerRequests(pod))) {
    const request = resources.requests?.[name];
    if (request === undefined || compareQuantities(sum, request) <= 0) continue;
    const detail = `must be greater than or equal to aggregate container requests of ${sum}`;
    errors.push(invalid(`${path}.requests[${name}]`, request, detail));
  }
  return errors;
}

type NameCheck = (name: string) => string[];

/** Returns what is wrong with the name of a resource that a container asks for, in upstream's words. */
export function checkContainerResourceName(name: string): string[] {
  const problems = checkQualifiedName(name);
  if (name.includes("/")) {
    const isNative = name.split("/")[0]?.endsWith("kubernetes.io") || name.startsWith("requests.");
    if (isNative || problems.length > 0) problems.push("doesn't follow extended resource name standard");
    return problems;
  }
  if (STANDARD_RESOURCES.includes(name) || isHugePages(name)) return problems;
  if (problems.length === 0) problems.push("must be a standard resource type or fully qualified");
  return [...problems, "must be a standard resource for containers"];
}

const checkPodResourceName: NameCheck = (name) =>
  isPodLevelResource(name) ? [] : ["must be a standard resource for pods"];

function validateAmounts(
  path: string,
  { limits = {}, requests = {} }: ResourceRequirements,
  checkName: NameCheck,
): FieldError[] {
  const errors: FieldError[] = [];
  for (const [list, amounts] of Object.entries({ limits, requests })) {
    for (const [name, amount] of Object.entries(amounts)) {
      errors.push(...invalidEach(`${path}.${list}[${name}]`, name, checkName(name)));
      errors.push(...validateAmount(`${path}.${list}[${name}]`, name, amount));
    }
  }
  for (const [name, request] of Object.entries(requests)) {
    errors.push(...validateRequest(path, name, { request, limit: amountOf(limits, name) }));
  }
  const names = [...Object.keys(limits), ...Object.keys(requests)];
  if (names.some(isHugePages) && !names.includes("cpu") && !names.includes("memory")) {
    errors.push(forbidden(path, "HugePages require cpu or memory"));
  }
  return errors;
}

function validateAmount(path: string, name: string, amount: string): FieldError[] {
  const nanos = parseQuantity(amount)?.nanos ?? 0n;
  if (nanos < 0n) return [invalid(path, amount, "must be greater than or equal to 0")];
  return !isOvercommitAllowed(name) && nanos % NANOS_PER_UNIT !== 0n
    ? [invalid(path, amount, "must be an integer")]
    : [];
}

function validateRequest(
  path: string,
  name: string,
  { request, limit }: { request: string; limit: string | undefined },
): FieldError[] {
  if (limit === undefined) {
    return isOvercommitAllowed(name)
      ? []
      : [required(`${path}.limits`, "Limit must be set for non overcommitable resources")];
  }
  const order = compareQuantities(request, limit);
  if (!isOvercommitAllowed(name) && order !== 0) {
    return [invalid(`${path}.requests`, request, `must be equal to ${name} limit of ${limit}`)];
  }
  return order > 0
    ? [invalid(`${path}.requests`, request, `must be less than or equal to ${name} limit of ${limit}`)]
    : [];
}
