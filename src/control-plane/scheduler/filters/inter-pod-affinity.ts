import type { Cluster, NodeInfo, PendingPod } from "../cluster.ts";
import { type AffinityTerm, isTermAbout, type PodInfo, termsOf } from "../pod-info.ts";
import type { NodeFilter, NodeRejection } from "./filter.ts";

const NO_AFFINITY: NodeRejection = { reasons: ["node(s) didn't match pod affinity rules"], isFinal: true };
const ANTI_AFFINITY: NodeRejection = { reasons: ["node(s) didn't match pod anti-affinity rules"], isFinal: false };
const OTHERS_ANTI_AFFINITY: NodeRejection = {
  reasons: ["node(s) didn't satisfy existing pods anti-affinity rules"],
  isFinal: false,
};

/**
 * Checks the pod's required affinity and anti-affinity, and the anti-affinity of the pods that are placed already
 * (`plugins/interpodaffinity`).
 */
export function filterPodAffinity(pod: PendingPod, cluster: Cluster): NodeFilter | undefined {
  const { podAffinity, podAntiAffinity } = pod.spec.affinity ?? {};
  const { namespace } = pod.info;
  const wanted = termsOf(podAffinity?.requiredDuringSchedulingIgnoredDuringExecution, namespace);
  const unwanted = termsOf(podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution, namespace);
  const wantedPlaces = createPlaces();
  const unwantedPlaces = createPlaces();
  const forbiddenPlaces = createPlaces();
  for (const node of cluster.nodes) {
    for (const other of node.pods) {
      for (const term of termsAgainst(other, pod.info, cluster)) forbiddenPlaces.add(term, node);
      // A pod satisfies affinity only if it matches all terms, but it violates anti-affinity if it matches any of them.
      if (wanted.length > 0 && wanted.every((term) => isTermAbout(term, other, cluster.namespaceLabels))) {
        for (const term of wanted) wantedPlaces.add(term, node);
      }
      for (const term of unwanted)
        if (isTermAbout(term, other, cluster.namespaceLabels)) unwantedPlaces.add(term, node);
    }
  }
  if (wanted.length === 0 && unwantedPlaces.isEmpty() && forbiddenPlaces.isEmpty()) return undefined;
  // The first pod of a group whose members want to be together has no other member to be near.
  const isFirst =
    wantedPlaces.isEmpty() && wanted.every((term) => isTermAbout(term, pod.info, cluster.namespaceLabels));
  return (node) => {
    const isNear = wanted.every((term) => Object.hasOwn(node.labels, term.topologyKey) && wantedPlaces.has(term, node));
    const isPlace = wanted.every(({ topologyKey }) => Object.hasOwn(node.labels, topologyKey));
    if (!isPlace || !(isNear || isFirst)) return NO_AFFINITY;
    if (unwanted.some((term) => unwantedPlaces.has(term, node))) return ANTI_AFFINITY;
    return forbiddenPlaces.hasAny(node) ? OTHERS_ANTI_AFFINITY : undefined;
  };
}

function termsAgainst(other: PodInfo, info: PodInfo, { namespaceLabels }: Cluster): AffinityTerm[] {
  return other.antiAffinity.filter((term) => isTermAbout(term, info, namespaceLabels));
}

/** A set of topology domains by key and value: `kubernetes.io/hostname` and `a`. */
interface Places {
  add(term: AffinityTerm, node: NodeInfo): void;
  has(term: AffinityTerm, node: NodeInfo): boolean;
  hasAny(node: NodeInfo): boolean;
  isEmpty(): boolean;
}

function createPlaces(): Places {
  const values = new Map<string, Set<string>>();
  const topologyValue = ({ labels }: NodeInfo, key: string) => (Object.hasOwn(labels, key) ? labels[key] : undefined);
  const holds = (key: string, node: NodeInfo) => {
    const value = topologyValue(node, key);
    return value !== undefined && (values.get(key)?.has(value) ?? false);
  };
  return {
    add({ topologyKey }, node) {
      const value = topologyValue(node, topologyKey);
      if (value !== undefined) values.set(topologyKey, (values.get(topologyKey) ?? new Set()).add(value));
    },
    has: ({ topologyKey }, node) => holds(topologyKey, node),
    hasAny: (node) => [...values.keys()].some((key) => holds(key, node)),
    isEmpty: () => values.size === 0,
  };
}
