import type { NetworkPolicy, NetworkPolicyPeer, NetworkPolicyPort } from "../../api/gen/types.ts";
import { labelSelectorOf } from "../../api/selectors/label-selector.ts";
import { parseCidr } from "../../api/validation/ip-address.ts";
import type { AddressFamily, RuleElement, RuleFragment, RuleSetDeclaration } from "../rules/fragment.ts";
import { composeKeyNumber, formatKeyNumber } from "../rules/key-number.ts";
import {
  formatAddresses,
  matchRanges,
  mergeRanges,
  rangeOfAddresses,
  type ValueRange,
  withoutRanges,
} from "../rules/value-ranges.ts";
import type { LabelsOfNamespaces, PolicyPod } from "./policy-pods.ts";

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

/** A policy as it is read once, with the word that its chains and sets begin with. */
export interface ReadPolicy {
  readonly name: string;
  readonly directions: readonly PolicyDirection[];
  readonly rules: readonly ReadRule[];
  /** True for the pods that the policy is about. */
  readonly selects: PodTest;
}

type PodTest = (pod: PolicyPod, namespaces: LabelsOfNamespaces) => boolean;

/** One rule of a policy, whichever way it goes. */
interface ReadRule {
  readonly direction: PolicyDirection;
  /** The number of the rule in its direction, by which the sets of the policy tell its elements from those of others. */
  readonly number: number;
  readonly peers: readonly NetworkPolicyPeer[];
  /** The peers that are pods. */
  readonly selecting: readonly PodTest[];
  readonly ports: readonly NetworkPolicyPort[];
  /** The ports that pods name, each with its protocol before it. */
  readonly namedPorts: ReadonlySet<string>;
}

/** Reads a policy. A selector that cannot be read throws BadRequest: the API server refuses such a policy. */
export function readPolicy(policy: NetworkPolicy, name: string): ReadPolicy {
  const { metadata, spec } = policy;
  const own = metadata?.namespace ?? "";
  const selector = labelSelectorOf(spec?.podSelector ?? {});
  const directions = directionsOf(policy);
  const rulesOf = (direction: PolicyDirection): ReadRule[] => {
    const rules =
      direction === "ingress"
        ? (spec?.ingress ?? []).map(({ from, ports }) => ({ peers: from, ports }))
        : (spec?.egress ?? []).map(({ to, ports }) => ({ peers: to, ports }));
    return rules.map(({ peers = [], ports = [] }, index) => ({
      direction,
      number: index + 1,
      peers,
      selecting: peers.filter(({ ipBlock }) => ipBlock === undefined).map((peer) => createPeerTest(peer, own)),
      ports,
      namedPorts: new Set(
        ports.flatMap((one) => (typeof one.port === "string" ? `${transportOf(one)} ${one.port}` : [])),
      ),
    }));
  };
  return {
    name,
    directions,
    rules: directions.flatMap(rulesOf),
    selects: ({ namespace, labels }) => namespace === own && selector.matches(labels),
  };
}

/** The directions that the policy closes but for its rules. Without a word of it, that is ingress, and egress with rules. */
function directionsOf({ spec }: NetworkPolicy): PolicyDirection[] {
  const types = spec?.policyTypes ?? ["Ingress", ...((spec?.egress ?? []).length > 0 ? ["Egress"] : [])];
  return (["ingress", "egress"] as const).filter((way) => types.some((type) => type.toLowerCase() === way));
}

/** Without a selector of namespaces, the policy's own is meant; without one of pods, all of theirs. */
function createPeerTest({ podSelector, namespaceSelector }: NetworkPolicyPeer, own: string): PodTest {
  const pods = labelSelectorOf(podSelector ?? {});
  const spaces = namespaceSelector === undefined ? undefined : labelSelectorOf(namespaceSelector);
  return ({ namespace, labels }, namespaces) => {
    const isThere = spaces === undefined ? namespace === own : spaces.matches(namespaces.get(namespace));
    return isThere && pods.matches(labels);
  };
}

/** The chain of a policy that lets through what it allows, and the set of the pods that it is about. */
export function namesOf({ name }: ReadPolicy, direction: PolicyDirection): { chain: string; pods: string } {
  return { chain: `${name}-${direction}`, pods: `${name}-pods` };
}

/**
 * Computes the chains and sets of one policy. Pods are in sets only, so that pods that come and go change no rule. All rules
 * of a direction share their sets: the kernel goes through the sets of all policies for each that a rule names.
 */
export function computePolicyFragment(policy: ReadPolicy, family: AddressFamily): RuleFragment {
  const address = ADDRESS_TYPES[family];
  return {
    sets: [
      { kind: "set", name: `${policy.name}-pods`, type: `type ${address};` },
      ...policy.directions.flatMap((direction) => ruleSets(policy, direction, address)),
    ],
    chains: policy.directions.map((direction) => ({
      name: namesOf(policy, direction).chain,
      rules: policy.rules.flatMap((rule) => (rule.direction === direction ? statementsOf(policy, rule, family) : [])),
    })),
  };
}

function ruleSets({ name, rules }: ReadPolicy, direction: PolicyDirection, address: string): RuleSetDeclaration[] {
  const own = rules.filter((rule) => rule.direction === direction);
  const peers = { kind: "set", name: peersOf(name, direction), type: `type ${address} . mark;` } as const;
  const type = `type ${address} . inet_proto . inet_service . mark;`;
  const ports = { kind: "set", name: portsOf(name, direction), type } as const;
  return [
    ...(own.some(({ selecting }) => selecting.length > 0) ? [peers] : []),
    ...(own.some(({ namedPorts }) => namedPorts.size > 0) ? [ports] : []),
  ];
}

const peersOf = (name: string, direction: PolicyDirection) => `${name}-${direction}-peers`;
const portsOf = (name: string, direction: PolicyDirection) => `${name}-${direction}-ports`;

/** Each match of the peers with each of the ports; "" matches always. */
function statementsOf({ name }: ReadPolicy, rule: ReadRule, family: AddressFamily): string[] {
  const { direction, number, peers, selecting, ports, namedPorts } = rule;
  const side = `${family} ${direction === "ingress" ? "saddr" : "daddr"}`;
  const chosen = `${side} . ${composeKeyNumber(number)} @${peersOf(name, direction)}`;
  const named = `${family} daddr . meta l4proto . th dport . ${composeKeyNumber(number)} @${portsOf(name, direction)}`;
  const matchesOfPeers =
    peers.length === 0 ? [""] : [...matchBlocks(side, peers, family), ...(selecting.length > 0 ? [chosen] : [])];
  const matchesOfPorts =
    ports.length === 0
      ? [""]
      : [...TRANSPORTS.flatMap((transport) => matchPorts(transport, ports)), ...(namedPorts.size > 0 ? [named] : [])];
  return matchesOfPeers.flatMap((peer) => matchesOfPorts.map((port) => joinWords(peer, port, "accept")));
}

/** Computes the elements by which a pod is in the sets of a policy. */
export function computePodElements(
  policy: ReadPolicy,
  pod: PolicyPod,
  { namespaces, family }: { readonly namespaces: LabelsOfNamespaces; readonly family: AddressFamily },
): RuleElement[] {
  const addresses = pod.addresses[family];
  if (addresses.length === 0) return [];
  const isOwn = policy.selects(pod, namespaces);
  const own = isOwn ? addresses.flatMap((address) => ownElements(policy, address)) : [];
  const ofRules = policy.rules.flatMap((rule) => {
    const isPeer = rule.selecting.some((test) => test(pod, namespaces));
    // Ports are those of the pod that is called: the policy's own pods for ingress, any pod for egress.
    const isCalled = rule.namedPorts.size > 0 && (rule.direction === "egress" || isOwn);
    return [
      ...(isPeer ? peerElements(policy, rule, addresses) : []),
      ...(isCalled ? portElements(policy, rule, { pod, addresses }) : []),
    ];
  });
  return [...own, ...ofRules];
}

function ownElements({ name, directions }: ReadPolicy, address: string): RuleElement[] {
  return [
    { set: `${name}-pods`, key: address },
    { set: POLICY_NAMES.self, key: `${address} . ${address}` },
    ...directions.map((direction) => ({ set: POLICY_NAMES.isolated[direction], key: address })),
  ];
}

function peerElements({ name }: ReadPolicy, { direction, number }: ReadRule, addresses: readonly string[]) {
  return addresses.map((address) => ({
    set: peersOf(name, direction),
    key: `${address} . ${formatKeyNumber(number)}`,
  }));
}

function portElements(
  { name }: ReadPolicy,
  { direction, number, namedPorts }: ReadRule,
  { pod, addresses }: { readonly pod: PolicyPod; readonly addresses: readonly string[] },
): RuleElement[] {
  const meant = pod.namedPorts.filter((one) => namedPorts.has(`${one.protocol} ${one.name}`));
  const set = portsOf(name, direction);
  return addresses.flatMap((address) => {
    return meant.map(({ protocol, port }) => ({
      set,
      key: `${address} . ${protocol} . ${port} . ${formatKeyNumber(number)}`,
    }));
  });
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
