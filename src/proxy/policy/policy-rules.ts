import type { NetworkPolicy, NetworkPolicyPeer, NetworkPolicyPort } from "../../api/gen/types.ts";
import { labelSelectorOf } from "../../api/selectors/label-selector.ts";
import { parseCidr } from "../../api/validation/ip-address.ts";
import type { AddressFamily, RuleChain, RuleElement, RuleFragment, RuleSetDeclaration } from "../rules/fragment.ts";
import {
  formatAddresses,
  matchRanges,
  mergeRanges,
  rangeOfAddresses,
  type ValueRange,
  withoutRanges,
} from "../rules/value-ranges.ts";
import type { PolicyCluster, PolicyPod } from "./policy-pods.ts";

/** The way of a connection, as seen from the pod that a policy is about. */
export type PolicyDirection = "ingress" | "egress";

/** The names that the policies share. */
export const POLICY_NAMES = {
  isolated: { ingress: "policy-isolated-ingress", egress: "policy-isolated-egress" },
  self: "policy-self",
  /** Every address that is known to be a pod's. */
  known: "policy-known-pods",
} as const;

export const ADDRESS_TYPES = { ip: "ipv4_addr", ip6: "ipv6_addr" } as const;

/** A policy with the word that its chains and sets begin with. */
export interface NamedPolicy {
  readonly policy: NetworkPolicy;
  readonly name: string;
}

/** One rule of a policy, whichever way it goes. */
interface PolicyRule {
  readonly peers: readonly NetworkPolicyPeer[] | undefined;
  readonly ports: readonly NetworkPolicyPort[] | undefined;
}

/** The directions that the policy closes but for its rules. Without a word of it, that is ingress, and egress with rules. */
export function directionsOf({ spec }: NetworkPolicy): PolicyDirection[] {
  const types = spec?.policyTypes ?? ["Ingress", ...((spec?.egress ?? []).length > 0 ? ["Egress"] : [])];
  return (["ingress", "egress"] as const).filter((way) => types.some((type) => type.toLowerCase() === way));
}

/** The chain of a policy that lets through what it allows, and the set of the pods that it is about. */
export function namesOf({ name }: NamedPolicy, direction: PolicyDirection): { chain: string; pods: string } {
  return { chain: `${name}-${direction}`, pods: `${name}-pods` };
}

/**
 * Computes the rules of one policy. Pods are in sets only, so that pods that come and go change no rule. A selector that
 * cannot be read selects nothing: the API server refuses such a policy.
 */
export function computePolicyFragment(named: NamedPolicy, cluster: PolicyCluster, family: AddressFamily): RuleFragment {
  const { policy, name } = named;
  const pods = selectPods(policy, cluster.pods);
  const addresses = pods.flatMap((pod) => pod.addresses[family]);
  const podSet = `${name}-pods`;
  const parts = directionsOf(policy).map((direction) => {
    return computeDirection(named, direction, { pods, cluster, family });
  });
  return {
    sets: [{ kind: "set", name: podSet, type: `type ${ADDRESS_TYPES[family]};` }, ...parts.flatMap(({ sets }) => sets)],
    chains: parts.map(({ chain }) => chain),
    elements: [
      ...addresses.map((key) => ({ set: podSet, key })),
      ...addresses.map((key) => ({ set: POLICY_NAMES.self, key: `${key} . ${key}` })),
      ...directionsOf(policy).flatMap((direction) => {
        return addresses.map((key) => ({ set: POLICY_NAMES.isolated[direction], key }));
      }),
      ...parts.flatMap(({ elements }) => elements),
    ],
  };
}

/** The pods that the policy is about. */
export function selectPods({ metadata, spec }: NetworkPolicy, pods: readonly PolicyPod[]): PolicyPod[] {
  const selector = labelSelectorOf(spec?.podSelector ?? {});
  const namespace = metadata?.namespace ?? "";
  return pods.filter((pod) => pod.namespace === namespace && selector.matches(pod.labels));
}

interface DirectionFacts {
  /** The pods that the policy is about. */
  readonly pods: readonly PolicyPod[];
  readonly cluster: PolicyCluster;
  readonly family: AddressFamily;
}

interface DirectionRules {
  readonly chain: RuleChain;
  readonly sets: readonly RuleSetDeclaration[];
  readonly elements: readonly RuleElement[];
}

function computeDirection(named: NamedPolicy, direction: PolicyDirection, facts: DirectionFacts): DirectionRules {
  const { spec } = named.policy;
  const rules: PolicyRule[] =
    direction === "ingress"
      ? (spec?.ingress ?? []).map(({ from, ports }) => ({ peers: from, ports }))
      : (spec?.egress ?? []).map(({ to, ports }) => ({ peers: to, ports }));
  const computed = rules.map((rule, index) => {
    const name = `${named.name}-${direction}-${index}`;
    const peers = computePeers(rule, { ...facts, named, direction, name: `${name}-peers` });
    const ports = computePorts(rule, { ...facts, direction, name: `${name}-ports` });
    const statements = peers.matches.flatMap((peer) => ports.matches.map((port) => joinWords(peer, port, "accept")));
    return {
      statements,
      sets: [...peers.sets, ...ports.sets],
      elements: [...peers.elements, ...ports.elements],
    };
  });
  return {
    chain: { name: namesOf(named, direction).chain, rules: computed.flatMap(({ statements }) => statements) },
    sets: computed.flatMap(({ sets }) => sets),
    elements: computed.flatMap(({ elements }) => elements),
  };
}

/** The statements one of which must match, "" for one that always does, and the sets that they look into. */
interface Matches {
  readonly matches: readonly string[];
  readonly sets: readonly RuleSetDeclaration[];
  readonly elements: readonly RuleElement[];
}

const EVERYTHING: Matches = { matches: [""], sets: [], elements: [] };

interface PeerFacts extends DirectionFacts {
  readonly named: NamedPolicy;
  readonly direction: PolicyDirection;
  /** The name of the set. */
  readonly name: string;
}

function computePeers({ peers = [] }: PolicyRule, facts: PeerFacts): Matches {
  if (peers.length === 0) return EVERYTHING;
  const { family, direction, name, cluster, named } = facts;
  const side = `${family} ${direction === "ingress" ? "saddr" : "daddr"}`;
  const blocks = matchBlocks(side, peers, family);
  const selecting = peers.filter(({ ipBlock }) => ipBlock === undefined);
  if (selecting.length === 0) return { matches: blocks, sets: [], elements: [] };
  const isPeer = selecting.map((peer) => createPeerTest(peer, named.policy.metadata?.namespace ?? "", cluster));
  const chosen = cluster.pods.filter((pod) => isPeer.some((test) => test(pod)));
  return {
    matches: [...blocks, `${side} @${name}`],
    sets: [{ kind: "set", name, type: `type ${ADDRESS_TYPES[family]};` }],
    elements: chosen.flatMap((pod) => pod.addresses[family].map((key) => ({ set: name, key }))),
  };
}

/** All blocks of the family are one match, so that a policy has no more rules than it has kinds of peers and ports. */
function matchBlocks(side: string, peers: readonly NetworkPolicyPeer[], family: AddressFamily): string[] {
  const wanted = family === "ip" ? "IPv4" : "IPv6";
  const readBlock = (cidr: string): ValueRange[] => {
    const range = parseCidr(cidr);
    return range?.family === wanted ? [rangeOfAddresses(range)] : [];
  };
  const allowed = peers.flatMap(({ ipBlock }) => {
    if (ipBlock === undefined) return [];
    const excluded = (ipBlock.except ?? []).flatMap(readBlock);
    return readBlock(ipBlock.cidr).flatMap((range) => withoutRanges(range, excluded));
  });
  return matchRanges(side, mergeRanges(allowed), formatAddresses(wanted));
}

/** Without a selector of namespaces, the policy's own is meant; without one of pods, all of theirs. */
function createPeerTest(
  { podSelector, namespaceSelector }: NetworkPolicyPeer,
  own: string,
  { namespaces }: PolicyCluster,
): (pod: PolicyPod) => boolean {
  const pods = labelSelectorOf(podSelector ?? {});
  const spaces = namespaceSelector === undefined ? undefined : labelSelectorOf(namespaceSelector);
  return ({ namespace, labels }) => {
    const isThere = spaces === undefined ? namespace === own : spaces.matches(namespaces.get(namespace));
    return isThere && pods.matches(labels);
  };
}

interface PortFacts extends DirectionFacts {
  readonly direction: PolicyDirection;
  /** The name of the set. */
  readonly name: string;
}

/** Ports are those of the pod that is called: the policy's own pods for ingress, any pod for egress. */
function computePorts({ ports = [] }: PolicyRule, { pods, cluster, family, direction, name }: PortFacts): Matches {
  if (ports.length === 0) return EVERYTHING;
  const numbered = TRANSPORTS.flatMap((transport) => matchPorts(transport, ports));
  const wanted = new Set<string>();
  for (const one of ports) if (typeof one.port === "string") wanted.add(`${transportOf(one)} ${one.port}`);
  if (wanted.size === 0) return { matches: numbered, sets: [], elements: [] };
  const called = direction === "ingress" ? pods : cluster.pods;
  const keys = called.flatMap(({ addresses, namedPorts }) => {
    const meant = namedPorts.filter((one) => wanted.has(`${one.protocol} ${one.name}`));
    return addresses[family].flatMap((address) => meant.map((one) => `${address} . ${one.protocol} . ${one.port}`));
  });
  return {
    matches: [...numbered, `${family} daddr . meta l4proto . th dport @${name}`],
    sets: [{ kind: "set", name, type: `type ${ADDRESS_TYPES[family]} . inet_proto . inet_service;` }],
    elements: [...new Set(keys)].map((key) => ({ set: name, key })),
  };
}

const TRANSPORTS = ["tcp", "udp", "sctp"] as const;
const transportOf = ({ protocol = "TCP" }: NetworkPolicyPort) => protocol.toLowerCase();

function matchPorts(transport: string, ports: readonly NetworkPolicyPort[]): string[] {
  const own = ports.filter((one) => transportOf(one) === transport);
  if (own.some(({ port }) => port === undefined)) return [`meta l4proto ${transport}`];
  const ranges = own.flatMap(({ port, endPort }) => {
    return typeof port === "number" ? [{ first: BigInt(port), last: BigInt(endPort ?? port) }] : [];
  });
  return matchRanges(`${transport} dport`, mergeRanges(ranges));
}

const joinWords = (...words: string[]) => words.filter((word) => word !== "").join(" ");
