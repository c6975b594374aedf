import type { Service, ServicePort } from "../../api/gen/types.ts";
import { contains } from "../../api/validation/ip-address.ts";
import { isRangeOf, ruleFamilyOf } from "../rules/address-family.ts";
import type { AddressFamily } from "../rules/fragment.ts";

/** One port of a service in one address family, with all that the rules need to know of it. */
export interface PlannedPort {
  readonly namespace: string;
  readonly service: string;
  readonly family: AddressFamily;
  /** "" for the only port of a service. */
  readonly portName: string;
  readonly protocol: ServiceProtocol;
  readonly port: number;
  readonly clusterIp: string;
  /** 0 for none. */
  readonly nodePort: number;
  readonly externalIps: readonly string[];
  readonly loadBalancerIps: readonly string[];
  /** Clients that may call the load balancer's addresses; empty for all. */
  readonly sourceRanges: readonly string[];
  /** For so long a client stays with its endpoint; undefined for no affinity. */
  readonly affinitySeconds: number | undefined;
  readonly isInternalLocal: boolean;
  readonly isExternalLocal: boolean;
}

type ServiceProtocol = "tcp" | "udp" | "sctp";

const PROTOCOLS: ReadonlyMap<string, ServiceProtocol> = new Map([
  ["TCP", "tcp"],
  ["UDP", "udp"],
  ["SCTP", "sctp"],
]);
const DEFAULT_AFFINITY_SECONDS = 10_800;
/** Services with this label belong to another proxy. */
const PROXY_NAME_LABEL = "service.kubernetes.io/service-proxy-name";

/**
 * Computes the ports that are to be proxied; none for a headless service and for one that is only a name. A service is
 * called at no outer address in the `closed` ranges.
 */
export function planPorts(service: Service, closed: readonly string[]): PlannedPort[] {
  const { spec = {}, metadata = {} } = service;
  if (spec.type === "ExternalName" || metadata.labels?.[PROXY_NAME_LABEL] !== undefined) return [];
  const clusterIps = spec.clusterIPs ?? (spec.clusterIP === undefined ? [] : [spec.clusterIP]);
  return clusterIps.flatMap((clusterIp) => {
    const family = ruleFamilyOf(clusterIp);
    if (family === undefined) return [];
    return (spec.ports ?? []).flatMap((port) => planPort(service, port, { family, clusterIp, closed }));
  });
}

/**
 * The addresses besides its own at which a service wants to be called, and which are those of pods or of services. Whoever
 * may write one service would get, or cut off, the traffic to the API server, to the cluster's DNS or to any pod
 * (CVE-2020-8554).
 */
export function findClosedAddresses({ spec = {}, status }: Service, closed: readonly string[]): string[] {
  const balanced = (status?.loadBalancer?.ingress ?? []).flatMap(({ ip }) => ip ?? []);
  return [...(spec.externalIPs ?? []), ...balanced].filter((address) => isInAny(closed, address));
}

function isInAny(ranges: readonly string[], address: string): boolean {
  return ranges.some((range) => contains(range, address));
}

function planPort(
  { metadata = {}, spec = {}, status }: Service,
  port: ServicePort,
  { family, clusterIp, closed }: { family: AddressFamily; clusterIp: string; closed: readonly string[] },
): PlannedPort[] {
  const protocol = PROTOCOLS.get(port.protocol ?? "TCP");
  if (protocol === undefined) return [];
  const isOpen = (address: string) => ruleFamilyOf(address) === family && !isInAny(closed, address);
  const ingress = status?.loadBalancer?.ingress ?? [];
  const isReachable = spec.type === "NodePort" || spec.type === "LoadBalancer";
  const balanced = ingress.flatMap(({ ip, ipMode }) => (ip === undefined || ipMode === "Proxy" ? [] : [ip]));
  return [
    {
      namespace: metadata.namespace ?? "",
      service: metadata.name ?? "",
      family,
      portName: port.name ?? "",
      protocol,
      port: port.port,
      clusterIp,
      nodePort: isReachable ? (port.nodePort ?? 0) : 0,
      externalIps: [...new Set((spec.externalIPs ?? []).filter(isOpen))],
      loadBalancerIps: spec.type === "LoadBalancer" ? [...new Set(balanced.filter(isOpen))] : [],
      sourceRanges: (spec.loadBalancerSourceRanges ?? []).map((range) => range.trim()).filter(isRangeOf(family)),
      affinitySeconds: affinityOf(spec),
      isInternalLocal: spec.internalTrafficPolicy === "Local",
      isExternalLocal: spec.externalTrafficPolicy === "Local",
    },
  ];
}

function affinityOf({ sessionAffinity, sessionAffinityConfig }: NonNullable<Service["spec"]>): number | undefined {
  if (sessionAffinity !== "ClientIP") return undefined;
  return sessionAffinityConfig?.clientIP?.timeoutSeconds ?? DEFAULT_AFFINITY_SECONDS;
}
