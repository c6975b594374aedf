import { type ApiError, invalidError } from "../../../../api/api-error.ts";
import type { FieldError } from "../../../../api/field-error.ts";
import type { Service, ServiceSpec } from "../../../../api/gen/types.ts";
import { familyOf } from "../../../../api/validation/ip-address.ts";
import { invalid } from "../../../../api/validation/problems.ts";
import { isExternalName, isHeadless, sameList } from "./service-traits.ts";

export type IpFamily = "IPv4" | "IPv6";

const FAMILIES: readonly IpFamily[] = ["IPv4", "IPv6"];

/**
 * The spec with its families and their policy, and without the second address where the policy gives it up. `configured`
 * are the families of the cluster, the default first. Throws Invalid for what the cluster does not have. Upstream:
 * `initIPFamilyFields` of pkg/registry/core/service/storage/alloc.go.
 */
export function chooseFamilies(
  service: Service,
  spec: ServiceSpec,
  { current, configured }: { current: ServiceSpec | undefined; configured: readonly IpFamily[] },
): ServiceSpec {
  if (current !== undefined && isUnchangedPreference(spec, current)) return spec;
  const ipFamilyPolicy = spec.ipFamilyPolicy || current?.ipFamilyPolicy || defaultPolicy(spec);
  const kept = { ...spec, ipFamilyPolicy, ...(current && giveUpSecond({ ...spec, ipFamilyPolicy }, current)) };
  refuseAny(service, [...findTooMany(kept), ...findForeignAddresses(kept, configured)]);
  const families = familiesOf(kept);
  if (isFree(kept)) {
    const [first = configured[0] ?? "IPv4"] = families;
    const isDual = families.length < 2 && ipFamilyPolicy !== "SingleStack";
    return { ...kept, ipFamilies: isDual ? bothFrom(first) : families.length > 0 ? families : [first] };
  }
  refuseAny(service, findForeignFamilies({ ...kept, ipFamilies: families }, configured));
  const [first = configured[0] ?? "IPv4"] = families;
  const isDual = families.length < 2 && ipFamilyPolicy !== "SingleStack" && configured.length > 1;
  return { ...kept, ipFamilies: isDual ? bothFrom(first) : families.length > 0 ? families : [first] };
}

/**
 * A service that prefers two addresses and has one keeps that when the cluster becomes dual-stack, and the other way
 * round, until its author asks for something else.
 */
function isUnchangedPreference(spec: ServiceSpec, current: ServiceSpec): boolean {
  const isPreferring = spec.ipFamilyPolicy === "PreferDualStack" && current.ipFamilyPolicy === "PreferDualStack";
  const isSame = spec.type === current.type && !isExternalName(spec);
  return isPreferring && isSame && sameList(spec.clusterIPs, current.clusterIPs) && isSameFamilies(spec, current);
}

const isSameFamilies = (a: ServiceSpec, b: ServiceSpec) => sameList(a.ipFamilies, b.ipFamilies);

/** True for a service without address and selector, whose endpoints may be of families that the cluster does not have. */
function isFree(spec: ServiceSpec): boolean {
  return isHeadless(spec) && Object.keys(spec.selector ?? {}).length === 0;
}

const defaultPolicy = (spec: ServiceSpec) => (isFree(spec) ? "RequireDualStack" : "SingleStack");

/** Who asks for one family and changes nothing else gives up the second. */
function giveUpSecond(spec: ServiceSpec, current: ServiceSpec): Pick<ServiceSpec, "clusterIPs" | "ipFamilies"> {
  if (spec.ipFamilyPolicy !== "SingleStack") return {};
  const { clusterIPs = [], ipFamilies = [] } = spec;
  return {
    ...(clusterIPs.length > 1 && sameList(clusterIPs, current.clusterIPs) && { clusterIPs: clusterIPs.slice(0, 1) }),
    ...(ipFamilies.length > 1 && isSameFamilies(spec, current) && { ipFamilies: ipFamilies.slice(0, 1) }),
  };
}

function findTooMany({ ipFamilyPolicy, clusterIPs = [], ipFamilies = [] }: ServiceSpec): FieldError[] {
  if (ipFamilyPolicy !== "SingleStack") return [];
  const refusal = (what: string) => {
    const detail = `must be 'RequireDualStack' or 'PreferDualStack' when multiple ${what} are specified`;
    return invalid("spec.ipFamilyPolicy", ipFamilyPolicy, detail);
  };
  return [
    ...(clusterIPs.length === 2 ? [refusal("cluster IPs")] : []),
    ...(ipFamilies.length === 2 ? [refusal("IP families")] : []),
  ];
}

/** The problems of addresses whose family nobody has named. */
function findForeignAddresses(
  { clusterIPs = [], ipFamilies = [] }: ServiceSpec,
  configured: readonly IpFamily[],
): FieldError[] {
  return clusterIPs.flatMap((address, index) => {
    if (address === "None" || ipFamilies[index] !== undefined || configured.includes(familyOf(address))) return [];
    return [invalid(`spec.clusterIPs[${index}]`, clusterIPs, `${familyOf(address)} is not configured on this cluster`)];
  });
}

function findForeignFamilies(
  { ipFamilyPolicy, ipFamilies = [] }: ServiceSpec,
  configured: readonly IpFamily[],
): FieldError[] {
  const detail = "this cluster is not configured for dual-stack services";
  const isTooMuch = ipFamilyPolicy === "RequireDualStack" && configured.length < 2;
  return [
    ...(isTooMuch ? [invalid("spec.ipFamilyPolicy", ipFamilyPolicy, detail)] : []),
    ...ipFamilies.flatMap((family, index) => {
      const isThere = configured.some((one) => one === family);
      return isThere ? [] : [invalid(`spec.ipFamilies[${index}]`, family, "not configured on this cluster")];
    }),
  ];
}

/** The families that are named, and those of the addresses that follow. */
function familiesOf({ clusterIPs = [], ipFamilies = [] }: ServiceSpec): string[] {
  const rest = clusterIPs.slice(ipFamilies.length).filter((address) => address !== "None");
  return [...ipFamilies, ...rest.map(familyOf)];
}

function bothFrom(first: string): string[] {
  return [first, ...FAMILIES.filter((family) => family !== first)];
}

/** Throws Invalid where there is a problem. */
function refuseAny({ metadata }: Service, problems: readonly FieldError[]): void {
  if (problems.length > 0) throw invalidService(metadata?.name ?? "", problems);
}

/** The error by which a service is refused. */
export function invalidService(name: string, problems: readonly FieldError[]): ApiError {
  return invalidError({ group: "", kind: "Service" }, name, [...problems]);
}
