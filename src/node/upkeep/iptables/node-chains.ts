/** One rule of iptables: the words of its conditions and its target. */
export interface ChainRule {
  readonly table: "filter";
  readonly chain: string;
  /** `append` puts it at the end of the chain, `prepend` before the rules of others. */
  readonly place: "append" | "prepend";
  readonly words: readonly string[];
}

/** The chains and rules of one address family. */
export interface NodeChains {
  readonly protocol: "IPv4" | "IPv6";
  readonly program: "iptables" | "ip6tables";
  readonly chains: ReadonlyArray<{ readonly table: "mangle" | "filter"; readonly chain: string }>;
  /** The rules are made in this order. */
  readonly rules: readonly ChainRule[];
}

const FIREWALL = "KUBE-FIREWALL";
const LOOPBACK_RANGE = "127.0.0.0/8";

/** It shows programs in containers which of the two kinds of iptables the node uses, legacy or nft. */
const HINT = { table: "mangle", chain: "KUBE-IPTABLES-HINT" } as const;

/**
 * Drops packets to the loopback that come from elsewhere and answer nothing (CVE-2020-8558). `route_localnet`, which
 * kube-proxy sets for node ports, lets the kernel take them.
 */
const MARTIAN_PACKETS: ChainRule = {
  table: "filter",
  chain: FIREWALL,
  place: "append",
  words: [
    ...["-m", "comment", "--comment", "block incoming localnet connections"],
    ...["-d", LOOPBACK_RANGE, "!", "-s", LOOPBACK_RANGE],
    ...["-m", "conntrack", "!", "--ctstate", "RELATED,ESTABLISHED,DNAT", "-j", "DROP"],
  ],
};

const jumpFrom = (chain: string): ChainRule => {
  return { table: "filter", chain, place: "prepend", words: ["-j", FIREWALL] };
};

/**
 * The chains and rules of `makeIPTablesUtilChains`, as in pkg/kubelet/kubelet_network_linux.go. The kernel drops packets
 * to ::1 from outside by itself, so that IPv6 has the hint only.
 */
export const NODE_CHAINS: readonly NodeChains[] = [
  {
    protocol: "IPv4",
    program: "iptables",
    chains: [HINT, { table: "filter", chain: FIREWALL }],
    rules: [MARTIAN_PACKETS, jumpFrom("OUTPUT"), jumpFrom("INPUT")],
  },
  { protocol: "IPv6", program: "ip6tables", chains: [HINT], rules: [] },
];
