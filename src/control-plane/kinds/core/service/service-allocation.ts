import { ApiError, invalidError } from "../../../../api/api-error.ts";
import type { Service, ServicePort, ServiceSpec } from "../../../../api/gen/types.ts";
import { invalid } from "../../../../api/validation/problems.ts";
import {
  type AddressRange,
  contains,
  familyOf,
  formatIpAddress,
  isSameAddress,
  parseCidr,
  parseIpAddress,
} from "../../rules/ip-address.ts";
import { isExternalName, isHeadless, needsHealthCheck, needsNodePorts, serviceSpec } from "./service-traits.ts";

/** The addresses and ports of other services; this service's own are not among them. */
export interface TakenServices {
  readonly clusterIPs: ReadonlySet<string>;
  /** The ports of all protocols, health check ports included. */
  readonly nodePorts: ReadonlySet<number>;
}

export interface ServiceRanges {
  /** `10.96.0.0/12`. */
  readonly serviceCidr: string;
  /** The first and the last port. */
  readonly nodePorts: readonly [number, number];
}

interface Allocation {
  readonly current: ServiceSpec | undefined;
  readonly taken: TakenServices;
  readonly ranges: ServiceRanges;
  /** At least 0, less than 1. */
  random(): number;
}

/**
 * Returns the service with the missing addresses and ports: within the ranges, and none that another service has. Pure
 * but for `random`. Throws Invalid for a requested address or port that is not available, InternalError when a range is
 * used up. Upstream: pkg/registry/core/service/storage/alloc.go.
 */
export function allocateService(
  service: Service,
  current: Service | undefined,
  taken: TakenServices,
  { ranges, random }: { ranges: ServiceRanges; random: () => number },
): Service {
  const spec = serviceSpec(service);
  const allocation: Allocation = { current: current && serviceSpec(current), taken, ranges, random };
  if (isExternalName(spec)) return service;
  const addressed = allocateClusterIp(service, spec, allocation);
  return { ...service, spec: allocateNodePorts(service, addressed, allocation) };
}

function allocateClusterIp(service: Service, spec: ServiceSpec, allocation: Allocation): ServiceSpec {
  const range = parseCidr(allocation.ranges.serviceCidr);
  if (range === undefined) throw new TypeError(`not a range of addresses: ${allocation.ranges.serviceCidr}`);
  const families = chooseFamilies(service, spec, range);
  const { clusterIP = "", clusterIPs = [] } = spec;
  if (isHeadless(spec)) return { ...spec, ...families, clusterIP: "None", clusterIPs: ["None"] };
  if (clusterIP === "") {
    const address = pickClusterIp(range, allocation);
    return { ...spec, ...families, clusterIP: address, clusterIPs: [address] };
  }
  checkClusterIp(service, clusterIP, allocation);
  return { ...spec, ...families, clusterIPs: clusterIPs.length > 0 ? clusterIPs : [clusterIP] };
}

type Families = Required<Pick<ServiceSpec, "ipFamilies" | "ipFamilyPolicy">>;

const FAMILIES = ["IPv4", "IPv6"] as const;

/**
 * Chooses the address families. This cluster has one, that of the range. Only a service without addresses and selector
 * may have endpoints of both.
 */
function chooseFamilies(service: Service, spec: ServiceSpec, { family }: AddressRange): Families {
  const { ipFamilies = [], selector = {}, clusterIPs = [] } = spec;
  const isFree = isHeadless(spec) && Object.keys(selector).length === 0;
  const ipFamilyPolicy = spec.ipFamilyPolicy || (isFree ? "RequireDualStack" : "SingleStack");
  if (isFree) {
    const [first = family, ...rest] = ipFamilies;
    const others = ipFamilyPolicy === "SingleStack" ? rest : FAMILIES.filter((other) => other !== first);
    return { ipFamilies: [first, ...others], ipFamilyPolicy };
  }
  const foreign = clusterIPs.findIndex((address, index) => {
    return address !== "None" && ipFamilies[index] === undefined && familyOf(address) !== family;
  });
  if (foreign >= 0) {
    const detail = `${familyOf(clusterIPs[foreign] ?? "")} is not configured on this cluster`;
    throw refuse(service, `spec.clusterIPs[${foreign}]`, clusterIPs, detail);
  }
  if (ipFamilyPolicy === "RequireDualStack") {
    throw refuse(
      service,
      "spec.ipFamilyPolicy",
      ipFamilyPolicy,
      "this cluster is not configured for dual-stack services",
    );
  }
  const wrong = ipFamilies.findIndex((asked) => asked !== family);
  if (wrong >= 0)
    throw refuse(service, `spec.ipFamilies[${wrong}]`, ipFamilies[wrong], "not configured on this cluster");
  return { ipFamilies: [family], ipFamilyPolicy };
}

function checkClusterIp(service: Service, address: string, { current, taken, ranges }: Allocation): void {
  if (current?.clusterIP !== undefined && isSameAddress(current.clusterIP, address)) return;
  const path = "spec.clusterIPs";
  const failed = `failed to allocate IP ${address}: `;
  if (!contains(ranges.serviceCidr, address) || isReserved(ranges.serviceCidr, address)) {
    const detail = `${failed}the provided IP (${address}) is not in the valid range. The range of valid IPs is ${ranges.serviceCidr}`;
    throw refuse(service, path, [address], detail);
  }
  const isTaken = [...taken.clusterIPs].some((other) => isSameAddress(other, address));
  if (isTaken) throw refuse(service, path, [address], `${failed}provided IP is already allocated`);
}

/** True for the network's own address and, with IPv4, the broadcast address, which no service gets. */
function isReserved(cidr: string, address: string): boolean {
  const range = parseCidr(cidr);
  const value = parseIpAddress(address);
  if (range === undefined || value === undefined) return false;
  return value === range.first || (range.family === "IPv4" && value === range.first + range.size - 1n);
}

/** The rest of a larger range is never handed out without being asked for. No single node has so many services. */
const MAX_DYNAMIC_ADDRESSES = 65_536n;

function pickClusterIp({ family, first, size }: AddressRange, { taken, random }: Allocation): string {
  const usable = family === "IPv4" ? size - 2n : size - 1n;
  const count = Number(usable < MAX_DYNAMIC_ADDRESSES ? usable : MAX_DYNAMIC_ADDRESSES);
  const reserved = reservedOf(count, { share: 16, most: 256 });
  const addressAt = (offset: number) => formatIpAddress(first + 1n + BigInt(offset), family);
  const picked = pickOffset({ count, reserved, random }, (offset) => taken.clusterIPs.has(addressAt(offset)));
  if (picked === undefined) throw new ApiError("InternalError", "failed to allocate a serviceIP: range is full");
  return addressAt(picked);
}

/**
 * The number of the lowest addresses or ports that are kept for requests of a certain one, until nothing else is left.
 */
function reservedOf(count: number, { share, most }: { share: number; most: number }): number {
  const least = 16;
  return count <= least ? 0 : Math.min(Math.max(least, Math.floor(count / share)), most);
}

function pickOffset(
  { count, reserved, random }: { count: number; reserved: number; random: () => number },
  isTaken: (offset: number) => boolean,
): number | undefined {
  const dynamic = count - reserved;
  const start = Math.floor(random() * dynamic);
  for (let step = 0; step < count; step++) {
    const offset = step < dynamic ? reserved + ((start + step) % dynamic) : step - dynamic;
    if (!isTaken(offset)) return offset;
  }
  return undefined;
}

function allocateNodePorts(service: Service, spec: ServiceSpec, allocation: Allocation): ServiceSpec {
  const claims: Claims = { allocation, own: new Map(), kept: ownPorts(allocation.current) };
  for (const [index, { nodePort = 0, protocol = "" }] of (spec.ports ?? []).entries()) {
    if (nodePort !== 0) claimPort(service, { nodePort, protocol, path: `spec.ports[${index}].nodePort` }, claims);
  }
  const isChecked = needsHealthCheck(spec);
  const { healthCheckNodePort = 0 } = spec;
  if (isChecked && healthCheckNodePort !== 0) {
    claimPort(service, { nodePort: healthCheckNodePort, protocol: "", path: "spec.healthCheckNodePort" }, claims);
  }
  const allocated: ServiceSpec = { ...spec };
  if (needsNodePorts(spec) && spec.ports) allocated.ports = fillNodePorts(spec.ports, claims);
  if (isChecked && healthCheckNodePort === 0) allocated.healthCheckNodePort = pickNodePort(claims);
  return allocated;
}

/** Fills the missing node ports. One port with several protocols (DNS) has the same node port for all of them. */
function fillNodePorts(ports: readonly ServicePort[], claims: Claims): ServicePort[] {
  const byPort = new Map<number, number>();
  for (const { port, nodePort } of ports) if (nodePort) byPort.set(port, nodePort);
  return ports.map((entry) => {
    const { port, protocol = "" } = entry;
    if (entry.nodePort) return entry;
    const shared = byPort.get(port);
    const isFree = shared !== undefined && !claims.own.get(shared)?.has(protocol);
    const nodePort = shared !== undefined && isFree ? shared : pickNodePort(claims);
    byPort.set(port, nodePort);
    claims.own.set(nodePort, (claims.own.get(nodePort) ?? new Set()).add(protocol));
    return { ...entry, nodePort };
  });
}

function ownPorts(current: ServiceSpec | undefined): ReadonlySet<number> {
  const ports = (current?.ports ?? []).map(({ nodePort = 0 }) => nodePort);
  return new Set([...ports, current?.healthCheckNodePort ?? 0].filter((port) => port !== 0));
}

interface Claims {
  readonly allocation: Allocation;
  /** The node ports of this service, with the protocols of each. */
  readonly own: Map<number, Set<string>>;
  /** The ports that it had before, which need not be in the range any more. */
  readonly kept: ReadonlySet<number>;
}

function claimPort(
  service: Service,
  { nodePort, protocol, path }: { nodePort: number; protocol: string; path: string },
  { allocation, own, kept }: Claims,
): void {
  const { nodePorts: range } = allocation.ranges;
  const isMine = kept.has(nodePort);
  if (!isMine && (nodePort < range[0] || nodePort > range[1])) {
    const detail = `provided port is not in the valid range. The range of valid ports is ${range[0]}-${range[1]}`;
    throw refuse(service, path, nodePort, detail);
  }
  const protocols = own.get(nodePort);
  const isTwice = protocols !== undefined && (protocols.has(protocol) || protocol === "" || protocols.has(""));
  if (isTwice || (!isMine && allocation.taken.nodePorts.has(nodePort))) {
    throw refuse(service, path, nodePort, "provided port is already allocated");
  }
  own.set(nodePort, (protocols ?? new Set()).add(protocol));
}

function pickNodePort({ allocation: { ranges, taken, random }, own }: Claims): number {
  const [first, last] = ranges.nodePorts;
  const count = last - first + 1;
  const reserved = reservedOf(count, { share: 32, most: 128 });
  const isTaken = (offset: number) => taken.nodePorts.has(first + offset) || own.has(first + offset);
  const picked = pickOffset({ count, reserved, random }, isTaken);
  if (picked === undefined) throw new ApiError("InternalError", "failed to allocate a nodePort: range is full");
  return first + picked;
}

function refuse(service: Service, path: string, value: unknown, detail: string): ApiError {
  return invalidError({ group: "", kind: "Service" }, service.metadata?.name ?? "", [invalid(path, value, detail)]);
}
