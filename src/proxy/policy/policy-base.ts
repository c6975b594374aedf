import { isRangeOf } from "../rules/address-family.ts";
import type { AddressFamily, RuleChain, RuleFragment } from "../rules/fragment.ts";
import { isAddressUnknown, type LabelsOfNamespaces, type PolicyPod } from "./policy-pods.ts";
import { ADDRESS_TYPES, namesOf, POLICY_NAMES, type PolicyDirection, type ReadPolicy } from "./policy-rules.ts";

/** Where the proxy is. */
export interface PolicyPlace {
  readonly nodeName: string;
  /** The addresses of pods; where there are none, a pod is open until its address is known. */
  readonly podCidrs: readonly string[];
  /** The bridge that the pods are on; where there is none, what pods of one link say to each other is left alone. */
  readonly podBridge?: string;
}

interface BaseFacts extends PolicyPlace {
  readonly pods: readonly PolicyPod[];
  readonly namespaces: LabelsOfNamespaces;
  readonly family: AddressFamily;
}

const ESTABLISHED = "ct state established,related accept";
/** Who is who on a link, and who listens to whom, is asked by packets of IPv6 that the bridge shows us, too. */
const NEIGHBORS = [
  "icmpv6 type { nd-neighbor-solicit, nd-neighbor-advert, nd-router-solicit, nd-router-advert } accept",
  "icmpv6 type { mld-listener-query, mld-listener-report, mld-listener-done, mld2-listener-report } accept",
];
/** The cluster's names are served by the node, which no selector of a policy can name. */
const NAMES_SERVED = "meta l4proto { tcp, udp } th dport 53 accept";

/**
 * Computes where the kernel enters, after addresses were translated, and which policy looks at what. The verdict `accept`
 * ends one entry only: what the caller's policies allow still has to be allowed by those of the called pod. Undefined
 * without policies, so that packets pay for none. What the node itself sends, probes above all, passes no entry.
 */
export function computePolicyBase(policies: readonly ReadPolicy[], facts: BaseFacts): RuleFragment | undefined {
  if (policies.length === 0) return undefined;
  const { family, pods, podBridge } = facts;
  const address = ADDRESS_TYPES[family];
  const common = [
    ESTABLISHED,
    ...(family === "ip6" ? NEIGHBORS : []),
    `${family} saddr . ${family} daddr @${POLICY_NAMES.self} accept`,
  ];
  const entry = (name: string, hook: string, ...rules: string[]): RuleChain => {
    return { name, hook: `type filter hook ${hook}; policy accept;`, rules: [...common, ...rules] };
  };
  return {
    sets: [
      { kind: "set", name: POLICY_NAMES.isolated.ingress, type: `type ${address};` },
      { kind: "set", name: POLICY_NAMES.isolated.egress, type: `type ${address};` },
      { kind: "set", name: POLICY_NAMES.self, type: `type ${address} . ${address};` },
      { kind: "set", name: POLICY_NAMES.known, type: `type ${address};` },
    ],
    elements: pods.flatMap(({ addresses }) => addresses[family].map((key) => ({ set: POLICY_NAMES.known, key }))),
    chains: [
      unknownChain("egress", policies, facts),
      unknownChain("ingress", policies, facts),
      directionChain("egress", policies, family),
      directionChain("ingress", policies, family),
      entry("policy-forward-egress", "forward priority 0", ...linkRules(podBridge, family), "jump policy-egress"),
      entry("policy-forward-ingress", "forward priority 1", "jump policy-ingress"),
      entry(
        "policy-input-egress",
        "input priority 0",
        NAMES_SERVED,
        ...linkRules(podBridge, family),
        "jump policy-egress",
      ),
    ],
  };
}

/**
 * Drops what goes by addresses that no policy can name: those of IPv6 that every pod gives itself on its link, also where
 * the cluster has IPv4 alone, and those of all who are there, of which some may be closed. Whose they are cannot be told,
 * so that no pod of the bridge has them while there is a policy.
 */
function linkRules(podBridge: string | undefined, family: AddressFamily): string[] {
  if (podBridge === undefined) return [];
  const from = `iifname "${podBridge}"`;
  if (family === "ip") return [`${from} fib daddr type { broadcast, multicast } drop`];
  return [`${from} ip6 saddr fe80::/10 drop`, `${from} ip6 daddr { fe80::/10, ff00::/8 } drop`];
}

/** Each policy may let the packet through; a pod of any policy is closed to the rest. */
function directionChain(direction: PolicyDirection, policies: readonly ReadPolicy[], family: AddressFamily): RuleChain {
  const side = sideOf(direction, family);
  const jumps = policies
    .filter(({ directions }) => directions.includes(direction))
    .map((policy) => {
      const { pods, chain } = namesOf(policy, direction);
      return `${side} @${pods} jump ${chain}`;
    });
  const isolated = `${side} @${POLICY_NAMES.isolated[direction]} drop`;
  return { name: `policy-${direction}`, rules: [...jumps, isolated, `jump ${unknownChainName(direction)}`] };
}

/**
 * While a pod starts here that a policy closes, its address is one of those that no pod is known to have, and all of
 * these are closed. A starting pod that no policy is about is closed with them until its status tells its address;
 * where no closed pod starts, nobody is.
 */
function unknownChain(
  direction: PolicyDirection,
  policies: readonly ReadPolicy[],
  { family, pods, namespaces, nodeName, podCidrs }: BaseFacts,
): RuleChain {
  const starting = pods.filter((pod) => pod.nodeName === nodeName && isAddressUnknown(pod));
  const isAwaited = policies.some(({ directions, selects }) => {
    return directions.includes(direction) && starting.some((pod) => selects(pod, namespaces));
  });
  const ranges = podCidrs.filter(isRangeOf(family));
  const side = sideOf(direction, family);
  const rule = `${side} { ${ranges.join(", ")} } ${side} != @${POLICY_NAMES.known} drop`;
  return { name: unknownChainName(direction), rules: isAwaited && ranges.length > 0 ? [rule] : [] };
}

const unknownChainName = (direction: PolicyDirection) => `policy-unknown-${direction}`;
const sideOf = (direction: PolicyDirection, family: AddressFamily) =>
  `${family} ${direction === "ingress" ? "daddr" : "saddr"}`;
