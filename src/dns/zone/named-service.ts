import { isIP } from "node:net";
import type { EndpointSlice, Service } from "../../api/gen/types.ts";

/** A service as far as its names tell of it. */
export interface NamedService {
  readonly namespace: string;
  readonly name: string;
  readonly kind: "cluster" | "headless" | "external";
  /** The service's own addresses; empty for the other kinds. */
  readonly addresses: readonly string[];
  /** For the kind `external`; "" for the others. */
  readonly externalName: string;
  readonly ports: readonly NamedPort[];
  /** Those that are ready, or all where the service publishes the others too; each address once. */
  readonly endpoints: readonly NamedEndpoint[];
}

export interface NamedPort {
  /** "" for a port without a name. */
  readonly name: string;
  /** `tcp`, `udp`, `sctp`. */
  readonly protocol: string;
  readonly port: number;
}

export interface NamedEndpoint {
  /** Its own host name, or one made of its address. */
  readonly hostname: string;
  readonly address: string;
  readonly ports: readonly NamedPort[];
}

/** Computes what the names of a service say from the service and its slices. */
export function computeNamedService(service: Service, slices: readonly EndpointSlice[]): NamedService {
  const { metadata, spec } = service;
  const isExternal = spec?.type === "ExternalName";
  const clusterIps = [...new Set([...(spec?.clusterIPs ?? []), spec?.clusterIP ?? ""])];
  const addresses = isExternal ? [] : clusterIps.filter((address) => isIP(address) !== 0);
  const kind = isExternal ? "external" : addresses.length > 0 ? "cluster" : "headless";
  const publishesAll = spec?.publishNotReadyAddresses === true;
  return {
    namespace: metadata?.namespace ?? "",
    name: metadata?.name ?? "",
    kind,
    addresses,
    externalName: isExternal ? (spec?.externalName ?? "").replace(/\.$/, "").toLowerCase() : "",
    ports: (spec?.ports ?? []).map(namePort),
    endpoints: isExternal ? [] : slices.flatMap((slice) => nameEndpoints(slice, publishesAll)).filter(isFirst()),
  };
}

/** A slice of host names has no addresses. */
function nameEndpoints({ addressType, endpoints = [], ports = [] }: EndpointSlice, publishesAll: boolean) {
  if (addressType === "FQDN") return [];
  const named = ports.flatMap((port) => (port.port === undefined ? [] : [namePort({ ...port, port: port.port })]));
  // Unknown readiness counts as ready, as the API says.
  const published = endpoints.filter(({ conditions }) => publishesAll || conditions?.ready !== false);
  return published.flatMap(({ addresses, hostname }) =>
    addresses.map((address): NamedEndpoint => ({ hostname: hostname || nameAddress(address), address, ports: named })),
  );
}

/** An address in two slices, while it moves from one to the other, counts once; another host name is another endpoint. */
function isFirst(): (endpoint: NamedEndpoint) => boolean {
  const seen = new Set<string>();
  return ({ hostname, address, ports }) => {
    const key = `${hostname} ${address} ${ports.map(({ name, protocol, port }) => `${name}/${protocol}/${port}`).join()}`;
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  };
}

/** The host name of an endpoint that has none, as CoreDNS makes it: `10-64-0-7`. */
function nameAddress(address: string): string {
  return address.replaceAll(/[.:]/g, "-").toLowerCase();
}

function namePort({ name, protocol, port }: { name?: string; protocol?: string; port: number }): NamedPort {
  return { name: name ?? "", protocol: (protocol ?? "TCP").toLowerCase(), port };
}
