import { ApiError } from "../../../../api/api-error.ts";
import type { Service, ServiceSpec } from "../../../../api/gen/types.ts";
import {
  type AddressRange,
  canonicalIp,
  familyOf,
  formatIpAddress,
  isSameAddress,
  isUsableIn,
  parseCidr,
} from "../../../../api/validation/ip-address.ts";
import { invalid } from "../../../../api/validation/problems.ts";
import { pickOffset, reservedOf } from "./pick-offset.ts";
import { invalidService } from "./service-families.ts";
import { isHeadless } from "./service-traits.ts";

interface ClusterIpAllocation {
  readonly current: ServiceSpec | undefined;
  /** The ranges from which addresses are taken, in the order in which they are tried. */
  readonly cidrs: readonly string[];
  /** True for an address in its one spelling that is another's. */
  isTaken(address: string): boolean;
  /** At least 0, less than 1. */
  random(): number;
}

/**
 * The spec, whose families are chosen, with an address for each of them. Addresses that the service has stay. Throws
 * Invalid for an address that it cannot have, InternalError when the ranges of a family are used up.
 */
export function allocateClusterIps(service: Service, spec: ServiceSpec, allocation: ClusterIpAllocation): ServiceSpec {
  if (isHeadless(spec)) return { ...spec, clusterIP: "None", clusterIPs: ["None"] };
  const { ipFamilies = [] } = spec;
  const asked = spec.clusterIPs?.length ? spec.clusterIPs : spec.clusterIP ? [spec.clusterIP] : [];
  const clusterIPs = ipFamilies.map((family, index) => {
    const address = asked[index];
    if (address === undefined || address === "") return pickAddress(service, family, allocation);
    checkAddress(service, { address, asked }, allocation);
    return address;
  });
  const [clusterIP] = clusterIPs;
  return { ...spec, ...(clusterIP !== undefined && { clusterIP }), clusterIPs };
}

function checkAddress(
  { metadata }: Service,
  { address, asked }: { address: string; asked: readonly string[] },
  { current, cidrs, isTaken }: ClusterIpAllocation,
): void {
  const had = [current?.clusterIP ?? "", ...(current?.clusterIPs ?? [])];
  if (had.some((one) => isSameAddress(one, address))) return;
  const refuse = (why: string) => {
    const problem = invalid("spec.clusterIPs", asked, `failed to allocate IP ${address}: ${why}`);
    return invalidService(metadata?.name ?? "", [problem]);
  };
  const isInRange = cidrs.some((cidr) => isUsableIn(cidr, address));
  if (!isInRange) throw refuse("the provided network does not match the current range");
  if (isTaken(canonicalIp(address))) throw refuse("provided IP is already allocated");
}

function pickAddress({ metadata }: Service, family: string, allocation: ClusterIpAllocation): string {
  for (const cidr of allocation.cidrs) {
    const range = parseCidr(cidr);
    const picked = range?.family === family ? pickFrom(range, allocation) : undefined;
    if (picked !== undefined) return picked;
  }
  const name = JSON.stringify(metadata?.name ?? "");
  throw new ApiError("InternalError", `failed to allocate a serviceIP for Service ${name}: range is full`);
}

/** The lowest addresses are kept for requests of a certain one, until nothing else is left, as upstream does. */
const STATIC_SHARE = { share: 16n, most: 256n };

function pickFrom({ family, first, size }: AddressRange, { isTaken, random }: ClusterIpAllocation): string | undefined {
  const count = family === "IPv4" ? size - 2n : size - 1n;
  if (count <= 0n) return undefined;
  const addressAt = (offset: bigint) => formatIpAddress(first + 1n + offset, family);
  const reserved = reservedOf(size, STATIC_SHARE);
  const picked = pickOffset({ count, reserved, random }, (offset) => isTaken(addressAt(offset)));
  return picked === undefined ? undefined : addressAt(picked);
}

/** The families of the ranges, each once, in their order. */
export function familiesIn(cidrs: readonly string[]): ReadonlyArray<"IPv4" | "IPv6"> {
  return [...new Set(cidrs.map(familyOf))];
}
