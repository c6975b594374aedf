import type { AddressFamily, RuleChain, RuleFragment, RuleSetDeclaration } from "../rules/fragment.ts";

/** Settings of the proxy as a whole. */
export interface ServiceRuleOptions {
  /** The name of this node, by which its own endpoints are known. */
  readonly nodeName: string;
  /** The addresses of pods: who calls a service from elsewhere is masqueraded. Default: nobody is for this reason. */
  readonly clusterCidrs: readonly string[];
  /** The bridge that the pods are on, where there is one. */
  readonly podBridge?: string;
  /** The addresses of services. Packets to those of them that no service has are dropped. Default: they are left alone. */
  readonly serviceCidrs: readonly string[];
  /** The ranges of this node's addresses at which node ports answer. Default: all but loopback. */
  readonly nodePortAddresses: readonly string[];
  /** Masquerades everything that goes to a service's address. */
  readonly masqueradeAll: boolean;
  /** The bit of the packet mark for what is to be masqueraded. */
  readonly masqueradeBit: number;
}

/** The names by which chains and sets refer to each other. */
export const NAMES = {
  serviceIps: "service-ips",
  nodePorts: "service-nodeports",
  noEndpointIps: "no-endpoint-services",
  noEndpointNodePorts: "no-endpoint-nodeports",
  firewallIps: "firewall-ips",
  clusterIps: "cluster-ips",
  hairpin: "hairpin-connections",
  markForMasquerade: "mark-for-masquerade",
  rejectIt: "reject-packet",
} as const;

const ADDRESS_TYPES = { ip: "ipv4_addr", ip6: "ipv6_addr" } as const;
const LOOPBACK = { ip: "127.0.0.0/8", ip6: "::1" } as const;

/** Computes what does not depend on any service: where the kernel enters, and the maps that lead to services. */
export function computeBaseRules(family: AddressFamily, options: ServiceRuleOptions): RuleFragment {
  return {
    sets: baseSets(ADDRESS_TYPES[family]),
    chains: [...entryChains(family, options), ...baseChains(family, options)],
  };
}

function baseSets(address: string): RuleSetDeclaration[] {
  const toAddress = `type ${address} . inet_proto . inet_service : verdict;`;
  const toPort = "type inet_proto . inet_service : verdict;";
  return [
    { kind: "map", name: NAMES.serviceIps, type: toAddress },
    { kind: "map", name: NAMES.nodePorts, type: toPort },
    { kind: "map", name: NAMES.noEndpointIps, type: toAddress },
    { kind: "map", name: NAMES.noEndpointNodePorts, type: toPort },
    { kind: "map", name: NAMES.firewallIps, type: toAddress },
    { kind: "set", name: NAMES.clusterIps, type: `type ${address};` },
    { kind: "set", name: NAMES.hairpin, type: `type ${address} . ${address};` },
  ];
}

/** The priorities are upstream's: firewalls see the address that was called, the other filters see what has none. */
function entryChains(family: AddressFamily, { podBridge }: ServiceRuleOptions): RuleChain[] {
  const entry = (name: string, hook: string, ...rules: string[]): RuleChain => ({ name, hook: `${hook};`, rules });
  const firewall = ["ct state new jump firewall-check"];
  const leftOver = ["ct state new jump no-endpoint-check", "ct state new jump cluster-ips-check"];
  return [
    entry(
      "filter-prerouting",
      "type filter hook prerouting priority -110",
      ...(family === "ip6" ? routerRules(podBridge) : []),
      ...firewall,
    ),
    entry("filter-output-early", "type filter hook output priority -110", ...firewall),
    entry("filter-input", "type filter hook input priority -110", ...leftOver),
    entry("filter-forward", "type filter hook forward priority -110", ...leftOver),
    entry("filter-output", "type filter hook output priority -10", ...leftOver),
    entry("nat-prerouting", "type nat hook prerouting priority -100", "jump services"),
    entry("nat-output", "type nat hook output priority -100", "jump services"),
    entry("nat-postrouting", "type nat hook postrouting priority 100", "jump masquerading"),
  ];
}

/**
 * No pod is the router of others, whose kernels would believe that it is, also where the cluster has IPv4 alone
 * (CVE-2020-10749). The node itself advertises nothing.
 */
function routerRules(podBridge: string | undefined): string[] {
  if (podBridge === undefined) return [];
  return [`iifname "${podBridge}" icmpv6 type { nd-router-advert, nd-redirect } drop`];
}

function baseChains(family: AddressFamily, options: ServiceRuleOptions): RuleChain[] {
  const mark = `0x${(2 ** options.masqueradeBit).toString(16)}`;
  const called = `${family} daddr . meta l4proto . th dport vmap`;
  const atNode = `fib daddr type local ${nodePortAddresses(family, options)} meta l4proto . th dport vmap`;
  return [
    {
      name: "services",
      rules: [...masqueradeRules(family, options), `${called} @${NAMES.serviceIps}`, `${atNode} @${NAMES.nodePorts}`],
    },
    { name: "firewall-check", rules: [`${called} @${NAMES.firewallIps}`] },
    {
      name: "no-endpoint-check",
      rules: [`${called} @${NAMES.noEndpointIps}`, `${atNode} @${NAMES.noEndpointNodePorts}`],
    },
    { name: "cluster-ips-check", rules: unallocatedRules(family, options) },
    {
      name: "masquerading",
      rules: [
        `ct status dnat ${family} saddr . ${family} daddr @${NAMES.hairpin} masquerade fully-random`,
        `meta mark & ${mark} == 0 return`,
        `meta mark set meta mark ^ ${mark}`,
        "masquerade fully-random",
      ],
    },
    { name: NAMES.markForMasquerade, rules: [`meta mark set meta mark | ${mark}`] },
    { name: NAMES.rejectIt, rules: ["reject"] },
  ];
}

/** Who calls from outside would get the answer from an address that it did not call. */
function masqueradeRules(family: AddressFamily, { masqueradeAll, clusterCidrs }: ServiceRuleOptions): string[] {
  const toService = `${family} daddr @${NAMES.clusterIps}`;
  if (masqueradeAll) return [`${toService} jump ${NAMES.markForMasquerade}`];
  if (clusterCidrs.length === 0) return [];
  return [`${toService} ${family} saddr != { ${clusterCidrs.join(", ")} } jump ${NAMES.markForMasquerade}`];
}

function unallocatedRules(family: AddressFamily, { serviceCidrs }: ServiceRuleOptions): string[] {
  const wrongPort = `${family} daddr @${NAMES.clusterIps} goto ${NAMES.rejectIt}`;
  if (serviceCidrs.length === 0) return [wrongPort];
  return [wrongPort, `${family} daddr { ${serviceCidrs.join(", ")} } drop`];
}

function nodePortAddresses(family: AddressFamily, { nodePortAddresses: ranges }: ServiceRuleOptions): string {
  const notLoopback = `${family} daddr != ${LOOPBACK[family]}`;
  return ranges.length === 0 ? notLoopback : `${notLoopback} ${family} daddr { ${ranges.join(", ")} }`;
}

/** The options with the ranges of one family only. */
export function selectFamily(options: ServiceRuleOptions, isOf: (range: string) => boolean): ServiceRuleOptions {
  const { clusterCidrs, serviceCidrs, nodePortAddresses: ranges } = options;
  return {
    ...options,
    clusterCidrs: clusterCidrs.filter(isOf),
    serviceCidrs: serviceCidrs.filter(isOf),
    nodePortAddresses: ranges.filter(isOf),
  };
}
