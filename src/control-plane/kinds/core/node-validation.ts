import type { FieldError } from "../../../api/field-error.ts";
import type { NodeSpec, NodeStatus, Taint } from "../../../api/gen/types.ts";
import { type KubeObject, typed } from "../../../api/object.ts";
import { checkCidr, familyOf } from "../../../api/validation/ip-address.ts";
import { checkLabelValue, checkQualifiedName } from "../../../api/validation/names.ts";
import { duplicate, each, forbidden, invalid, invalidEach, oneOf } from "../../../api/validation/problems.ts";
import { validateAmount } from "./resource-amounts.ts";

/** The problems of a node's taints, pod ranges and status amounts. */
export function validateNode(object: KubeObject): FieldError[] {
  const { spec = {}, status = {} } = typed("Node", object);
  return [
    // Upstream looks for taints in the metadata as well, and users may have seen this path.
    ...validateTaints("metadata.taints", spec.taints),
    ...validateAmounts("status.capacity", status.capacity),
    ...validateAmounts("status.allocatable", status.allocatable),
    ...validateDeclaredFeatures(status.declaredFeatures),
    ...validatePodRanges(spec),
  ];
}

/** The problems of an update. A node keeps its assigned pod ranges and the identity that a cloud gave it. */
export function validateNodeUpdate(next: KubeObject, current: KubeObject): FieldError[] {
  const { spec = {}, status = {} } = typed("Node", next);
  const { spec: old = {} } = typed("Node", current);
  const errors = [...validateDeclaredFeatures(status.declaredFeatures), ...validateAddresses(status)];
  const ranges = old.podCIDRs ?? [];
  if (ranges.length > 0 && ranges.join() !== (spec.podCIDRs ?? []).join()) {
    errors.push(forbidden("spec.podCIDRs", 'node updates may not change podCIDR except from "" to valid'));
  }
  if (old.providerID && old.providerID !== spec.providerID) {
    errors.push(forbidden("spec.providerID", 'node updates may not change providerID except from "" to valid'));
  }
  if ((old.externalID ?? "") !== (spec.externalID ?? ""))
    errors.push(forbidden("spec.externalID", "may not be updated"));
  return errors;
}

function validateTaints(path: string, taints: Taint[] | undefined): FieldError[] {
  const seen = new Set<string>();
  return each(path, taints, (taint, place) => {
    const { key, value = "", effect } = taint;
    const problems = checkLabelValue(value);
    const errors = [
      ...invalidEach(`${place}.key`, key, checkQualifiedName(key)),
      ...(problems.length > 0 ? [invalid(`${place}.value`, value, problems.join(";"))] : []),
      ...oneOf(`${place}.effect`, effect, ["NoSchedule", "PreferNoSchedule", "NoExecute"]),
    ];
    const pair = `${key}\n${effect}`;
    if (seen.has(pair)) errors.push(duplicateTaint(place, taint));
    seen.add(pair);
    return errors;
  });
}

function duplicateTaint(path: string, taint: Taint): FieldError {
  const { message, ...error } = duplicate(path, taint);
  return { ...error, message: `${message}: taints must be unique by key and effect pair` };
}

function validateAmounts(path: string, amounts: Readonly<Record<string, string>> = {}): FieldError[] {
  return Object.entries(amounts).flatMap(([name, amount]) => validateAmount(`${path}.${name}`, name, amount));
}

function validatePodRanges({ podCIDRs = [] }: NodeSpec): FieldError[] {
  const path = "spec.podCIDRs";
  const errors = each(path, podCIDRs, (range, place) => invalidEach(place, range, checkCidr(range)));
  if (podCIDRs.length < 2 || errors.length > 0) return errors;
  const families = new Set(podCIDRs.map(familyOf));
  if (families.size < 2 || podCIDRs.length > 2) {
    errors.push(invalid(path, podCIDRs, "may specify no more than one CIDR for each IP family"));
  }
  const seen = new Set<string>();
  for (const [index, range] of podCIDRs.entries()) {
    if (seen.has(range)) errors.push(duplicate(`${path}[${index}]`, range));
    seen.add(range);
  }
  return errors;
}

/** The name of a feature, `MyFeature` or `MyFeature/mySubFeature`. */
const FEATURE_NAME = /^[A-Z][a-zA-Z0-9]*(\/[a-zA-Z][a-zA-Z0-9]*)*$/;
const MAX_FEATURE_NAME = 253;

function validateDeclaredFeatures(names: readonly string[] | undefined): FieldError[] {
  const path = "status.declaredFeatures";
  let before: string | undefined;
  return each(path, names, (name, place) => {
    const errors: FieldError[] = [];
    if (name === before) errors.push(duplicate(place, name));
    else if (before !== undefined && name < before) {
      errors.push(invalid(place, name, "list must be sorted alphabetically"));
    }
    const problem = checkFeatureName(name);
    if (problem !== undefined) errors.push(invalid(place, name, `invalid feature name "${name}": ${problem}`));
    before = name;
    return errors;
  });
}

function checkFeatureName(name: string): string | undefined {
  if (Buffer.byteLength(name) > MAX_FEATURE_NAME) return `must be no more than ${MAX_FEATURE_NAME} characters`;
  if (FEATURE_NAME.test(name)) return undefined;
  return (
    "must start with an UpperCamelCase segment, with subsequent segments separated by '/' " +
    "(e.g., MyFeature or MyFeature/mySubFeature), and contain only alphanumeric characters and slashes"
  );
}

function validateAddresses({ addresses }: NodeStatus): FieldError[] {
  const seen = new Set<string>();
  return each("status.addresses", addresses, (address, path) => {
    const key = `${address.type}\n${address.address}`;
    const isKnown = seen.has(key);
    seen.add(key);
    return isKnown ? [duplicate(path, address)] : [];
  });
}
