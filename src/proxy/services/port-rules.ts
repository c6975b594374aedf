import { createHash } from "node:crypto";
import type { RuleChain, RuleElement, RuleFragment, RuleSetDeclaration } from "../rules/fragment.ts";
import { NAMES } from "./base-rules.ts";
import { type ChosenEndpoint, type PortEndpoints, uniqueEndpoints } from "./port-endpoints.ts";
import type { PlannedPort } from "./service-port.ts";

/** nftables takes 127 characters. The hash at the beginning tells names apart that are cut. */
const MAX_NAME_CHARACTERS = 100;
const HASH_DIGITS = 10;
const ADDRESS_TYPES = { ip: "ipv4_addr", ip6: "ipv6_addr" } as const;

/** Computes the chains of one port of a service, and the elements of the maps that lead to them. */
export function computePortRules(
  port: PlannedPort,
  endpoints: PortEndpoints,
  clusterCidrs: readonly string[],
): RuleFragment {
  const name = nameOf(port);
  const cluster = dispatchChain(`cluster-${name}`, port, endpoints.cluster);
  const local = dispatchChain(`local-${name}`, port, endpoints.local);
  const isCalledFromOutside = port.nodePort !== 0 || outsideAddresses(port).length > 0;
  const usesLocal = port.isInternalLocal || (port.isExternalLocal && isCalledFromOutside);
  const all = uniqueEndpoints([...endpoints.cluster, ...(usesLocal ? endpoints.local : [])]);
  const isExternal = isCalledFromOutside && hasExternalEndpoints(port, endpoints);
  return {
    sets: all.flatMap((endpoint) => affinitySet(port, endpoint)),
    chains: [
      ...all.flatMap((endpoint) => endpointChain(port, endpoint)),
      ...(endpoints.cluster.length > 0 ? [cluster] : []),
      ...(usesLocal && endpoints.local.length > 0 ? [local] : []),
      ...(isExternal ? [externalChain(port, endpoints, clusterCidrs)] : []),
      ...firewallChain(port),
    ],
    elements: [
      { set: NAMES.clusterIps, key: port.clusterIp },
      ...internalElements(port, endpoints),
      ...externalElements(port, endpoints),
      ...firewallElements(port),
      ...all.map(({ ip }) => ({ set: NAMES.hairpin, key: `${ip} . ${ip}` })),
    ],
  };
}

/** The addresses besides the service's own. */
function outsideAddresses({ externalIps, loadBalancerIps }: PlannedPort): readonly string[] {
  return [...new Set([...externalIps, ...loadBalancerIps])];
}

/** Pods and the node itself may go to any endpoint even where others may not, so one of either kind is enough. */
function hasExternalEndpoints({ isExternalLocal }: PlannedPort, { cluster, local }: PortEndpoints): boolean {
  return cluster.length > 0 || (isExternalLocal && local.length > 0);
}

function internalElements(port: PlannedPort, { cluster, local }: PortEndpoints): RuleElement[] {
  const endpoints = port.isInternalLocal ? local : cluster;
  const target = `${port.isInternalLocal ? "local" : "cluster"}-${nameOf(port)}`;
  const key = keyOf(port, port.clusterIp);
  if (endpoints.length > 0) return [{ set: NAMES.serviceIps, key, value: `goto ${target}` }];
  return [{ set: NAMES.noEndpointIps, key, value: refusal(cluster) }];
}

function externalElements(port: PlannedPort, endpoints: PortEndpoints): RuleElement[] {
  const nodePortKey = `${port.protocol} . ${port.nodePort}`;
  const addresses = outsideAddresses(port).map((address) => keyOf(port, address));
  const elements: RuleElement[] = [];
  if (hasExternalEndpoints(port, endpoints)) {
    const value = `goto external-${nameOf(port)}`;
    elements.push(...addresses.map((key) => ({ set: NAMES.serviceIps, key, value })));
    if (port.nodePort !== 0) elements.push({ set: NAMES.nodePorts, key: nodePortKey, value });
  }
  if ((port.isExternalLocal ? endpoints.local : endpoints.cluster).length === 0) {
    const value = refusal(endpoints.cluster);
    elements.push(...addresses.map((key) => ({ set: NAMES.noEndpointIps, key, value })));
    if (port.nodePort !== 0) elements.push({ set: NAMES.noEndpointNodePorts, key: nodePortKey, value });
  }
  return elements;
}

/** Without any endpoint a client is told at once; where only this node has none, another may answer the next try. */
function refusal(cluster: readonly ChosenEndpoint[]): string {
  return cluster.length === 0 ? `goto ${NAMES.rejectIt}` : "drop";
}

function externalChain(
  port: PlannedPort,
  { cluster, local }: PortEndpoints,
  clusterCidrs: readonly string[],
): RuleChain {
  const chain = nameOf(port);
  const name = `external-${chain}`;
  if (!port.isExternalLocal) {
    return { name, rules: [`jump ${NAMES.markForMasquerade}`, `goto cluster-${chain}`] };
  }
  const own = "fib saddr type local";
  const toAny = [
    ...(clusterCidrs.length > 0 ? [`${port.family} saddr { ${clusterCidrs.join(", ")} } goto cluster-${chain}`] : []),
    `${own} jump ${NAMES.markForMasquerade}`,
    `${own} goto cluster-${chain}`,
  ];
  const rules = [...(cluster.length > 0 ? toAny : []), ...(local.length > 0 ? [`goto local-${chain}`] : [])];
  return { name, rules };
}

function firewallChain({ family, sourceRanges, ...port }: PlannedPort): RuleChain[] {
  if (sourceRanges.length === 0 || port.loadBalancerIps.length === 0) return [];
  const allowed = sourceRanges.map((range) => `${family} saddr ${range} return`);
  return [{ name: `firewall-${nameOf({ family, sourceRanges, ...port })}`, rules: [...allowed, "drop"] }];
}

function firewallElements(port: PlannedPort): RuleElement[] {
  if (port.sourceRanges.length === 0) return [];
  const value = `goto firewall-${nameOf(port)}`;
  return port.loadBalancerIps.map((address) => ({ set: NAMES.firewallIps, key: keyOf(port, address), value }));
}

/** The chain that chooses one of the endpoints. */
function dispatchChain(name: string, port: PlannedPort, endpoints: readonly ChosenEndpoint[]): RuleChain {
  const { family, protocol } = port;
  const [first] = endpoints;
  if (first === undefined) return { name, rules: [] };
  if (port.affinitySeconds !== undefined) return { name, rules: affinityRules(port, endpoints) };
  const translate = `meta l4proto ${protocol} dnat`;
  if (endpoints.length === 1) return { name, rules: [`${translate} to ${addressAndPort(first)}`] };
  const choices = endpoints.map(({ ip, port: number }, index) => `${index} : ${ip} . ${number}`).join(", ");
  const rule = `${translate} ${family} addr . port to numgen random mod ${endpoints.length} map { ${choices} }`;
  return { name, rules: [rule] };
}

/** A client that is known goes where it went before, another one anywhere. */
function affinityRules(port: PlannedPort, endpoints: readonly ChosenEndpoint[]): string[] {
  const chains = endpoints.map((endpoint) => `endpoint-${endpointName(port, endpoint)}`);
  const known = endpoints.map((endpoint, index) => {
    return `${port.family} saddr @affinity-${endpointName(port, endpoint)} goto ${chains[index]}`;
  });
  const choices = chains.map((chain, index) => `${index} : goto ${chain}`).join(", ");
  return [...known, `numgen random mod ${endpoints.length} vmap { ${choices} }`];
}

function affinitySet(port: PlannedPort, endpoint: ChosenEndpoint): RuleSetDeclaration[] {
  if (port.affinitySeconds === undefined) return [];
  const type = `type ${ADDRESS_TYPES[port.family]}; flags dynamic,timeout; timeout ${port.affinitySeconds}s;`;
  return [{ kind: "set", name: `affinity-${endpointName(port, endpoint)}`, type, isDynamic: true }];
}

function endpointChain(port: PlannedPort, endpoint: ChosenEndpoint): RuleChain[] {
  if (port.affinitySeconds === undefined) return [];
  const name = endpointName(port, endpoint);
  const remember = `update @affinity-${name} { ${port.family} saddr }`;
  const translate = `meta l4proto ${port.protocol} dnat to ${addressAndPort(endpoint)}`;
  return [{ name: `endpoint-${name}`, rules: [remember, translate] }];
}

/** The time is part of the name, because a set keeps the time that it was made with. */
function endpointName(port: PlannedPort, { ip, port: number }: ChosenEndpoint): string {
  return composeName(port, [ip, `${number}`, `${port.affinitySeconds}`]);
}

function nameOf(port: PlannedPort): string {
  return composeName(port, []);
}

function composeName({ namespace, service, protocol, portName }: PlannedPort, more: readonly string[]): string {
  const readable = [`${namespace}/${service}`, protocol, portName, ...more.slice(0, 2)].filter((part) => part !== "");
  const parts = [namespace, service, protocol, portName, ...more];
  const hash = createHash("sha256").update(parts.join("\0")).digest("hex").slice(0, HASH_DIGITS);
  return `${hash}-${readable.join("/").replaceAll(/[^a-zA-Z0-9/.-]/g, ".")}`.slice(0, MAX_NAME_CHARACTERS);
}

function keyOf({ protocol, port }: PlannedPort, address: string): string {
  return `${address} . ${protocol} . ${port}`;
}

function addressAndPort({ ip, port }: ChosenEndpoint): string {
  return ip.includes(":") ? `[${ip}]:${port}` : `${ip}:${port}`;
}
