import { matchesTerm } from "../../api/selectors/node-selector.ts";
import { tolerates } from "../../api/tolerations.ts";
import type { Cluster, NodeInfo, PendingPod } from "./cluster.ts";
import { type AffinityTerm, isTermAbout, type PodInfo, termsOf } from "./pod-info.ts";

const MAX_SCORE = 100;
/** The weight of each score of a node, as in upstream's default profile. */
const WEIGHTS = { taints: 3, nodeAffinity: 2, podAffinity: 2, leastAllocated: 1 };
/** The assumed use of a pod that requests nothing, so that such pods do not pile up on one node. */
const DEFAULT_REQUESTS = { cpu: 100n, memory: 200n * 1024n * 1024n };

/** Chooses the node with the highest score among those that fit; of several, the first by name. */
export function chooseNode(pod: PendingPod, nodes: readonly NodeInfo[], cluster: Cluster): NodeInfo | undefined {
  if (nodes.length <= 1) return nodes[0];
  const taints = spread(nodes.map((node) => -countUnwelcoming(pod, node)));
  const affinity = spread(nodes.map((node) => weighNodeAffinity(pod, node)));
  const neighbours = spread(weighNeighbours(pod, nodes, cluster));
  let best: { node: NodeInfo; score: number } | undefined;
  for (const [index, node] of nodes.entries()) {
    const score =
      WEIGHTS.taints * (taints[index] ?? 0) +
      WEIGHTS.nodeAffinity * (affinity[index] ?? 0) +
      WEIGHTS.podAffinity * (neighbours[index] ?? 0) +
      WEIGHTS.leastAllocated * scoreFreeShare(pod, node);
    if (best === undefined || score > best.score) best = { node, score };
  }
  return best?.node;
}

/** Scales values so that the least becomes 0 and the greatest the full score; equal values all become 0. */
function spread(values: readonly number[]): number[] {
  const [min, max] = [Math.min(...values), Math.max(...values)];
  return values.map((value) => (max === min ? 0 : (MAX_SCORE * (value - min)) / (max - min)));
}

function countUnwelcoming({ spec: { tolerations = [] } }: PendingPod, { taints }: NodeInfo): number {
  return taints.filter((taint) => {
    return taint.effect === "PreferNoSchedule" && !tolerations.some((toleration) => tolerates(toleration, taint));
  }).length;
}

function weighNodeAffinity({ spec }: PendingPod, node: NodeInfo): number {
  const preferred = spec.affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
  return preferred.reduce((sum, { weight, preference }) => (matchesTerm(preference, node) ? sum + weight : sum), 0);
}

interface WeighedTerm {
  readonly term: AffinityTerm;
  readonly weight: number;
}

/** The score of each node for the pods in its topology domains that the pod wants near it, or not near it. */
function weighNeighbours(pod: PendingPod, nodes: readonly NodeInfo[], cluster: Cluster): number[] {
  const terms = weighedTerms(pod);
  if (terms.length === 0) return nodes.map(() => 0);
  const weights = new Map<string, number>();
  const placeOf = ({ term: { topologyKey } }: WeighedTerm, { labels }: NodeInfo) => {
    return Object.hasOwn(labels, topologyKey) ? `${topologyKey}=${labels[topologyKey] ?? ""}` : undefined;
  };
  const countsFor =
    ({ term }: WeighedTerm) =>
    (other: PodInfo) =>
      isTermAbout(term, other, cluster.namespaceLabels);
  for (const node of cluster.nodes) {
    for (const weighed of terms) {
      const place = placeOf(weighed, node);
      if (place === undefined) continue;
      const neighbours = node.pods.filter(countsFor(weighed)).length;
      weights.set(place, (weights.get(place) ?? 0) + neighbours * weighed.weight);
    }
  }
  return nodes.map((node) => {
    const places = new Set(terms.flatMap((weighed) => placeOf(weighed, node) ?? []));
    return [...places].reduce((sum, place) => sum + (weights.get(place) ?? 0), 0);
  });
}

function weighedTerms({ spec, info: { namespace } }: PendingPod): WeighedTerm[] {
  const { podAffinity, podAntiAffinity } = spec.affinity ?? {};
  const near = podAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
  const far = podAntiAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
  const weigh = (sign: 1 | -1) => (preferred: (typeof near)[number]) => {
    return termsOf([preferred.podAffinityTerm], namespace).map((term) => ({ term, weight: sign * preferred.weight }));
  };
  return [...near.flatMap(weigh(1)), ...far.flatMap(weigh(-1))];
}

function scoreFreeShare(pod: PendingPod, node: NodeInfo): number {
  const shares = (["cpu", "memory"] as const).map((name) => {
    const allocatable = node.allocatable.get(name) ?? 0n;
    const used = [...node.pods, pod.info].reduce((sum, { requests }) => {
      return sum + (requests.get(name) ?? DEFAULT_REQUESTS[name]);
    }, 0n);
    if (allocatable === 0n || used > allocatable) return 0;
    return Number(((allocatable - used) * BigInt(MAX_SCORE)) / allocatable);
  });
  return shares.reduce((sum, share) => sum + share, 0) / shares.length;
}
