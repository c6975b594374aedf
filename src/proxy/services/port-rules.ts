import type { RuleChain, RuleElement, RuleFragment } from "../rules/fragment.ts";
import { NAMES } from "./base-rules.ts";
import { computeChoice, computeStickyChoices, type NumberEndpoint } from "./endpoint-choice.ts";
import { type ChosenEndpoint, type PortEndpoints, uniqueEndpoints } from "./port-endpoints.ts";
import { nameOfPort } from "./rule-names.ts";
import type { PlannedPort } from "./service-port.ts";

interface PortRuleOptions {
  readonly clusterCidrs: readonly string[];
  readonly numberOf: NumberEndpoint;
}

/** Computes the chains of one port of a service, and the elements of the maps that lead to them. */
export function computePortRules(
  port: PlannedPort,
  endpoints: PortEndpoints,
  { clusterCidrs, numberOf }: PortRuleOptions,
): RuleFragment {
  const isCalledFromOutside = port.nodePort !== 0 || outsideAddresses(port).length > 0;
  const usesLocal = port.isInternalLocal || (port.isExternalLocal && isCalledFromOutside);
  const ways = { cluster: endpoints.cluster, local: usesLocal ? endpoints.local : [] };
  const all = uniqueEndpoints([...ways.cluster, ...ways.local]);
  const choices =
    port.affinitySeconds === undefined
      ? [computeChoice("cluster", port, ways.cluster), computeChoice("local", port, ways.local)]
      : [computeStickyChoices(port, ways, numberOf)];
  const isExternal = isCalledFromOutside && hasExternalEndpoints(port, endpoints);
  return {
    sets: choices.flatMap(({ sets }) => sets),
    chains: [
      ...choices.flatMap(({ chains }) => chains),
      ...(isExternal ? [externalChain(port, endpoints, clusterCidrs)] : []),
      ...firewallChain(port),
    ],
    elements: [
      { set: NAMES.clusterIps, key: port.clusterIp },
      ...internalElements(port, endpoints),
      ...externalElements(port, endpoints),
      ...firewallElements(port),
      ...all.map(({ ip }) => ({ set: NAMES.hairpin, key: `${ip} . ${ip}` })),
      ...choices.flatMap(({ elements }) => elements),
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
  const target = `${port.isInternalLocal ? "local" : "cluster"}-${nameOfPort(port)}`;
  const key = keyOf(port, port.clusterIp);
  if (endpoints.length > 0) return [{ set: NAMES.serviceIps, key, value: `goto ${target}` }];
  return [{ set: NAMES.noEndpointIps, key, value: refusal(cluster) }];
}

function externalElements(port: PlannedPort, endpoints: PortEndpoints): RuleElement[] {
  const nodePortKey = `${port.protocol} . ${port.nodePort}`;
  const addresses = outsideAddresses(port).map((address) => keyOf(port, address));
  const elements: RuleElement[] = [];
  if (hasExternalEndpoints(port, endpoints)) {
    const value = `goto external-${nameOfPort(port)}`;
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
  const chain = nameOfPort(port);
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
  return [{ name: `firewall-${nameOfPort({ family, sourceRanges, ...port })}`, rules: [...allowed, "drop"] }];
}

function firewallElements(port: PlannedPort): RuleElement[] {
  if (port.sourceRanges.length === 0) return [];
  const value = `goto firewall-${nameOfPort(port)}`;
  return port.loadBalancerIps.map((address) => ({ set: NAMES.firewallIps, key: keyOf(port, address), value }));
}

function keyOf({ protocol, port }: PlannedPort, address: string): string {
  return `${address} . ${protocol} . ${port}`;
}
