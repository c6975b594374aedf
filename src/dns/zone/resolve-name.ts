import { isIP } from "node:net";
import { type DnsRecord, RECORD_TYPES } from "../wire/record.ts";
import type { NamedEndpoint, NamedPort, NamedService } from "./named-service.ts";
import { readReverseName } from "./reverse-name.ts";
import type { ServiceNames } from "./service-directory.ts";

/** The cluster's own zone. */
export interface ClusterZone {
  /** `cluster.local`, in lower case. */
  readonly domain: string;
  readonly names: ServiceNames;
  /** The address of this server, which the zone's name server record leads to. */
  readonly serverAddress: string;
  /** The number of the zone's version; it never goes back. */
  serial(): number;
}

/**
 * What the cluster knows of a name. `nothing`: the name exists, and has no record of that type. `alias`: another name has
 * it. `elsewhere`: the cluster is not who decides.
 */
export type ZoneAnswer =
  | { readonly kind: "records"; readonly records: readonly DnsRecord[]; readonly additionals: readonly DnsRecord[] }
  | { readonly kind: "nothing" }
  | { readonly kind: "no-such-name" }
  | { readonly kind: "alias"; readonly record: DnsRecord; readonly target: string }
  | { readonly kind: "elsewhere" };

/** Seconds that an answer is valid; the default of CoreDNS. */
export const ZONE_TTL_SECONDS = 5;
/** The version of the specification that is served (github.com/kubernetes/dns, docs/specification.md). */
const SCHEMA_VERSION = "1.1.0";

const NOTHING: ZoneAnswer = { kind: "nothing" };
const NO_SUCH_NAME: ZoneAnswer = { kind: "no-such-name" };

/** Resolves a name in lower case, without a dot at its end, by the specification of Kubernetes' DNS. */
export function resolveName(zone: ClusterZone, name: string, type: number): ZoneAnswer {
  const { domain } = zone;
  if (name === domain) return resolveApex(zone, type);
  if (!name.endsWith(`.${domain}`)) return resolveReverse(zone, name, type);
  const labels = name.slice(0, -domain.length - 1).split(".");
  const kind = labels.pop();
  const [namespace, ...rest] = labels.toReversed();
  switch (kind) {
    case "dns-version":
      return namespace === undefined
        ? answer(type, [{ ...own(name), type: "TXT", data: SCHEMA_VERSION }])
        : NO_SUCH_NAME;
    case "dns":
      return resolveServerName(zone, { name, type, label: namespace, isLonger: rest.length > 0 });
    case "svc":
    case "pod":
      break;
    default:
      return NO_SUCH_NAME;
  }
  if (namespace === undefined) return NOTHING;
  const [first, ...below] = rest;
  if (first === undefined) return zone.names.hasNamespace(namespace) ? NOTHING : NO_SUCH_NAME;
  if (kind === "pod")
    return below.length > 0 ? NO_SUCH_NAME : resolvePod(zone, { name, type, namespace, label: first });
  const service = zone.names.find(namespace, first);
  return service === undefined ? NO_SUCH_NAME : resolveService(zone, service, { name, type, below });
}

/** The record that goes with every denial, and says how long it is valid. */
export function startOfAuthority({ domain, serial }: ClusterZone): DnsRecord {
  return {
    name: domain,
    ttl: ZONE_TTL_SECONDS,
    type: "SOA",
    data: {
      mname: `ns.dns.${domain}`,
      rname: `hostmaster.${domain}`,
      serial: serial(),
      refresh: 7_200,
      retry: 1_800,
      expire: 86_400,
      minimum: ZONE_TTL_SECONDS,
    },
  };
}

function resolveApex(zone: ClusterZone, type: number): ZoneAnswer {
  const { domain } = zone;
  return answer(type, [startOfAuthority(zone), { ...own(domain), type: "NS", data: `ns.dns.${domain}` }]);
}

interface AskedLabel {
  readonly name: string;
  readonly type: number;
  readonly label: string | undefined;
}

function resolveServerName(
  zone: ClusterZone,
  { name, type, label, isLonger }: AskedLabel & { readonly isLonger: boolean },
): ZoneAnswer {
  if (label === undefined) return NOTHING;
  return label === "ns" && !isLonger ? answer(type, addressRecords(name, [zone.serverAddress])) : NO_SUCH_NAME;
}

/** Any address has a name in a namespace that exists, as in the CoreDNS that kubeadm sets up. */
function resolvePod(
  { names }: ClusterZone,
  { name, type, namespace, label = "" }: AskedLabel & { readonly namespace: string },
): ZoneAnswer {
  const candidates = [label.replaceAll("-", "."), label.replaceAll("-", ":")];
  const address = candidates.find((candidate) => isIP(candidate) !== 0);
  if (address === undefined || !names.hasNamespace(namespace)) return NO_SUCH_NAME;
  return answer(type, addressRecords(name, [address]));
}

interface AskedService {
  readonly name: string;
  readonly type: number;
  /** The labels below the service's own name, the nearest first. */
  readonly below: readonly string[];
}

function resolveService(zone: ClusterZone, service: NamedService, asked: AskedService): ZoneAnswer {
  const { name, type, below } = asked;
  const [label, port, ...more] = below;
  if (more.length > 0) return NO_SUCH_NAME;
  if (service.kind === "external") return label === undefined ? resolveExternal(service, name, type) : NO_SUCH_NAME;
  // The specification wants this name gone where nobody is ready.
  if (service.kind === "headless" && service.endpoints.length === 0) return NO_SUCH_NAME;
  if (label === undefined) return resolveOwnName(zone, service, asked);
  if (label.startsWith("_")) return resolvePort(zone, service, { name, type, protocol: label, port });
  const endpoints = service.endpoints.filter(({ hostname }) => hostname === label);
  if (port !== undefined || endpoints.length === 0) return NO_SUCH_NAME;
  return answer(type, addressRecords(name, addressesOf(endpoints)));
}

function resolveOwnName(zone: ClusterZone, service: NamedService, { name, type }: AskedService): ZoneAnswer {
  if (type === RECORD_TYPES.SRV) return serveRecords(zone, service, { name, isPort: () => true });
  const addresses = service.kind === "cluster" ? service.addresses : addressesOf(service.endpoints);
  return answer(type, addressRecords(name, addresses));
}

interface AskedPort {
  readonly name: string;
  readonly type: number;
  readonly protocol: string;
  readonly port: string | undefined;
}

function resolvePort(zone: ClusterZone, service: NamedService, { name, type, protocol, port }: AskedPort): ZoneAnswer {
  const ports = service.kind === "cluster" ? service.ports : service.endpoints.flatMap((endpoint) => endpoint.ports);
  const hasProtocol = (one: NamedPort) => one.name !== "" && `_${one.protocol}` === protocol;
  const isPort = (one: NamedPort) => hasProtocol(one) && `_${one.name}` === port;
  // Where there are names below a name, the name exists.
  if (port === undefined) return ports.some(hasProtocol) ? NOTHING : NO_SUCH_NAME;
  if (!ports.some(isPort)) return NO_SUCH_NAME;
  return type === RECORD_TYPES.SRV ? serveRecords(zone, service, { name, isPort }) : NOTHING;
}

interface AskedPorts {
  readonly name: string;
  isPort(port: NamedPort): boolean;
}

/** SRV records with the addresses of their targets. Each gets the same share of 100, as CoreDNS gives it. */
function serveRecords({ domain }: ClusterZone, service: NamedService, { name, isPort }: AskedPorts): ZoneAnswer {
  const base = `${service.name}.${service.namespace}.svc.${domain}`;
  const targets =
    service.kind === "cluster"
      ? [{ target: base, addresses: service.addresses, ports: service.ports }]
      : service.endpoints.map(({ hostname, address, ports }) => {
          return { target: `${hostname}.${base}`, addresses: [address], ports };
        });
  const offered = targets.flatMap(({ target, ports }) => {
    return ports.filter(isPort).map(({ port }) => ({ target, port }));
  });
  const distinct = [...new Map(offered.map((one) => [`${one.target} ${one.port}`, one])).values()];
  if (distinct.length === 0) return NOTHING;
  const weight = Math.max(1, Math.floor(100 / distinct.length));
  const records = distinct.map(({ target, port }): DnsRecord => {
    return { ...own(name), type: "SRV", data: { priority: 0, weight, port, target } };
  });
  const additionals = targets.flatMap(({ target, addresses }) => addressRecords(target, addresses));
  return { kind: "records", records, additionals };
}

/** An external name may be an address, which no alias can lead to. */
function resolveExternal({ externalName }: NamedService, name: string, type: number): ZoneAnswer {
  if (isIP(externalName) !== 0) return answer(type, addressRecords(name, [externalName]));
  return { kind: "alias", record: { ...own(name), type: "CNAME", data: externalName }, target: externalName };
}

function resolveReverse({ domain, names }: ClusterZone, name: string, type: number): ZoneAnswer {
  const address = readReverseName(name);
  const owners = address === undefined ? [] : names.namesOf(address);
  if (owners.length === 0) return { kind: "elsewhere" };
  return answer(
    type,
    owners.map((owner): DnsRecord => ({ ...own(name), type: "PTR", data: `${owner}.${domain}` })),
  );
}

const own = (name: string) => ({ name, ttl: ZONE_TTL_SECONDS });

function answer(type: number, records: readonly DnsRecord[]): ZoneAnswer {
  const wanted = records.filter((record) => RECORD_TYPES[record.type] === type);
  return wanted.length === 0 ? NOTHING : { kind: "records", records: wanted, additionals: [] };
}

function addressesOf(endpoints: readonly NamedEndpoint[]): string[] {
  return [...new Set(endpoints.map(({ address }) => address))];
}

function addressRecords(name: string, addresses: readonly string[]): DnsRecord[] {
  return addresses.map((address) => ({ ...own(name), type: isIP(address) === 6 ? "AAAA" : "A", data: address }));
}
