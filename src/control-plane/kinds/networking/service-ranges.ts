import type { FieldError } from "../../../api/field-error.ts";
import type { ParentReference, ServiceCIDRSpec } from "../../../api/gen/types.ts";
import { checkCanonicalCidr, checkCanonicalIp, familyOf } from "../../../api/validation/ip-address.ts";
import { checkDnsSubdomain } from "../../../api/validation/names.ts";
import { each, invalid, invalidEach, required } from "../../../api/validation/problems.ts";
import { defineKind } from "../define-kind.ts";
import { immutable } from "../rules/immutable.ts";
import { checkPathSegment } from "../rules/path-segment.ts";
import { strategyOf } from "../typed-strategy.ts";

/** Addresses, each of which says whose it is. Those of services come and go with their service. */
export const ipAddressKind = defineKind({
  group: "networking.k8s.io",
  kind: "IPAddress",
  plural: "ipaddresses",
  shortNames: ["ip"],
  namespaced: false,
  strategy: strategyOf("IPAddress", {
    checkName: checkCanonicalIp,
    validate: ({ spec }) => validateParent(spec?.parentRef),
    validateUpdate: (next, current) => immutable("spec.parentRef", next.spec?.parentRef, current.spec?.parentRef),
  }),
});

function validateParent(parent: ParentReference | undefined): FieldError[] {
  const path = "spec.parentRef";
  const { group = "", resource = "", namespace = "", name = "" } = parent ?? {};
  // A missing reference is decoded to an empty one.
  if (`${group}${resource}${namespace}${name}` === "") return [required(path)];
  const segment = (field: string, value: string) => invalidEach(`${path}.${field}`, value, checkPathSegment(value));
  return [
    ...(group === "" ? [] : invalidEach(`${path}.group`, group, checkDnsSubdomain(group))),
    ...(resource === "" ? [required(`${path}.resource`)] : segment("resource", resource)),
    ...(name === "" ? [required(`${path}.name`)] : segment("name", name)),
    ...(namespace === "" ? [] : segment("namespace", namespace)),
  ];
}

/** Ranges from which services get their addresses. */
export const serviceCidrKind = defineKind({
  group: "networking.k8s.io",
  kind: "ServiceCIDR",
  plural: "servicecidrs",
  namespaced: false,
  status: true,
  validateStatus: () => [],
  strategy: strategyOf("ServiceCIDR", {
    initialStatus: {},
    validate: ({ spec }) => validateRanges(spec),
    validateUpdate: (next, current) => validateKept(next.spec?.cidrs ?? [], current.spec?.cidrs ?? []),
  }),
});

const MAX_RANGES = 2;
const RANGES = "spec.cidrs";

function validateRanges({ cidrs = [] }: ServiceCIDRSpec = {}): FieldError[] {
  if (cidrs.length === 0) return [required(RANGES, "at least one CIDR required")];
  if (cidrs.length > MAX_RANGES) return [invalid(RANGES, { cidrs }, "may only hold up to 2 values")];
  const errors = each(RANGES, cidrs, (cidr, path) => invalidEach(path, cidr, checkCanonicalCidr(cidr)));
  const [first = "", second] = cidrs;
  if (second === undefined || errors.length > 0 || familyOf(first) !== familyOf(second)) return errors;
  const detail = "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64";
  return [...errors, invalid(RANGES, cidrs, detail)];
}

/** The ranges stay, because services have addresses of them. Only a second family may come. */
function validateKept(cidrs: readonly string[], before: readonly string[]): FieldError[] {
  const detail = "field is immutable";
  const isSecond = before.length === 1 && cidrs.length === 2;
  if (cidrs.length !== before.length && !isSecond) return [invalid(RANGES, cidrs, detail)];
  return before.flatMap((cidr, index) => {
    return cidr === cidrs[index] ? [] : [invalid(`${RANGES}[${index}]`, cidrs[index], detail)];
  });
}
