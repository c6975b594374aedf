import { ApiError } from "../../../../api/api-error.ts";
import type { Service, ServicePort, ServiceSpec } from "../../../../api/gen/types.ts";
import { invalid } from "../../../../api/validation/problems.ts";
import { allocateClusterIps } from "./cluster-ip-allocation.ts";
import { createPortPicker } from "./pick-port.ts";
import { chooseFamilies, type IpFamily, invalidService } from "./service-families.ts";
import { isExternalName, needsHealthCheck, needsNodePorts, serviceSpec } from "./service-traits.ts";

/** The addresses and ports of others; this service's own are not among them. */
export interface TakenServices {
  /** True for an address, in its one spelling, that is another's. */
  hasAddress(address: string): boolean;
  /** The ports of all protocols, health check ports included. */
  readonly nodePorts: ReadonlySet<number>;
}

export interface ServiceRanges {
  /** The families of the cluster's services, the default first. */
  readonly families: readonly IpFamily[];
  /** The ranges that are ready, `10.96.0.0/12`, in the order in which they are tried. */
  readonly cidrs: readonly string[];
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
  const before = current && serviceSpec(current);
  if (isExternalName(spec)) return service;
  const families = chooseFamilies(service, spec, { current: before, configured: ranges.families });
  const isTaken = (address: string) => taken.hasAddress(address);
  const addressed = allocateClusterIps(service, families, { current: before, cidrs: ranges.cidrs, isTaken, random });
  return { ...service, spec: allocateNodePorts(service, addressed, { current: before, taken, ranges, random }) };
}

function allocateNodePorts(service: Service, spec: ServiceSpec, allocation: Allocation): ServiceSpec {
  const claims = createClaims(allocation);
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
  /** Picks a port that nobody has; undefined where the range is full. */
  pick(): number | undefined;
}

function createClaims(allocation: Allocation): Claims {
  const { ranges, taken, random } = allocation;
  const [first, last] = ranges.nodePorts;
  const own: Claims["own"] = new Map();
  const pick = createPortPicker({ first, last, random }, (port) => taken.nodePorts.has(port) || own.has(port));
  return { allocation, own, kept: ownPorts(allocation.current), pick };
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

function pickNodePort({ pick }: Claims): number {
  const picked = pick();
  if (picked === undefined) throw new ApiError("InternalError", "failed to allocate a nodePort: range is full");
  return picked;
}

function refuse({ metadata }: Service, path: string, value: unknown, detail: string): ApiError {
  return invalidService(metadata?.name ?? "", [invalid(path, value, detail)]);
}
