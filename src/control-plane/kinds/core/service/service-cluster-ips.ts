import type { FieldError } from "../../../../api/field-error.ts";
import type { ServiceSpec } from "../../../../api/gen/types.ts";
import { checkIpAddress, familyOf } from "../../../../api/validation/ip-address.ts";
import {
  duplicate,
  each,
  invalid,
  invalidEach,
  optionalOneOf,
  required,
  unsupported,
} from "../../../../api/validation/problems.ts";
import { isExternalName } from "./service-traits.ts";

const FAMILIES = ["IPv4", "IPv6"];
const POLICIES = ["PreferDualStack", "RequireDualStack", "SingleStack"];

/** The problems of the address in its two fields and of its families. */
export function validateClusterIps(spec: ServiceSpec): FieldError[] {
  if (isExternalName(spec)) return [];
  const { clusterIP = "", clusterIPs = [], ipFamilies = [], ipFamilyPolicy } = spec;
  const errors = optionalOneOf("spec.ipFamilyPolicy", ipFamilyPolicy, POLICIES);
  if (clusterIPs.length > 0 && clusterIP === "") {
    errors.push(invalid("spec.clusterIPs", clusterIPs, "must be empty when `clusterIP` is not specified"));
  }
  if (clusterIP !== "" && clusterIPs.length === 0) errors.push(required("spec.clusterIPs"));
  else if (clusterIP !== "" && clusterIP !== clusterIPs[0]) {
    errors.push(invalid("spec.clusterIPs", clusterIPs, "first value must match `clusterIP`"));
  }
  return [...errors, ...validateFamilies(ipFamilies), ...validateAddresses(clusterIPs, ipFamilies)];
}

function validateFamilies(families: readonly string[]): FieldError[] {
  const seen = new Set<string>();
  return each("spec.ipFamilies", families, (family, path) => {
    const errors = FAMILIES.includes(family) ? [] : [unsupported(path, family, FAMILIES)];
    if (seen.has(family)) errors.push(duplicate(path, family));
    seen.add(family);
    return errors;
  });
}

function validateAddresses(addresses: readonly string[], families: readonly string[]): FieldError[] {
  const path = "spec.clusterIPs";
  if (addresses.length > 2) {
    return [invalid(path, addresses, "may only hold up to 2 values")];
  }
  if (addresses.includes("None")) {
    return addresses.length === 1 ? [] : [invalid(path, addresses, "'None' must be the first and only value")];
  }
  const errors = each(path, addresses, (address, place) => {
    const problems = checkIpAddress(address);
    if (problems.length > 0) return invalidEach(place, address, problems);
    const family = families[addresses.indexOf(address)];
    if (family === undefined || family === familyOf(address)) return [];
    return [
      invalid(
        place,
        address,
        `expected an ${family} value as indicated by \`ipFamilies[${addresses.indexOf(address)}]\``,
      ),
    ];
  });
  if (errors.length === 0 && addresses.length === 2 && new Set(addresses.map(familyOf)).size < 2) {
    errors.push(invalid(path, addresses, "may specify no more than one IP for each IP family"));
  }
  return errors;
}
