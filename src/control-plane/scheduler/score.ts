import type { Cluster, NodeInfo, PendingPod } from "./cluster.ts";
import { scoreImages } from "./scores/image-locality.ts";
import { scoreNeighbours } from "./scores/inter-pod-affinity.ts";
import type { ScoreNodes } from "./scores/node-score.ts";
import { scoreNodeAffinity, scoreTaints } from "./scores/preferences.ts";
import { scoreBalance, scoreFreeShare } from "./scores/resources.ts";
import { scoreSpread } from "./scores/topology-spread.ts";

/** The scores of a node with their weights, as in upstream's default profile. */
const SCORES: ReadonlyArray<readonly [score: ScoreNodes, weight: number]> = [
  [scoreTaints, 3],
  [scoreNodeAffinity, 2],
  [scoreSpread, 2],
  [scoreNeighbours, 2],
  [scoreFreeShare, 1],
  [scoreBalance, 1],
  [scoreImages, 1],
];

/** A node that fits, with the sum of its weighed scores. */
export interface RankedNode {
  readonly name: string;
  /** 0 where there is no other node to compare with. */
  readonly score: number;
}

/** Ranks the nodes that fit, the highest score first; equal ones by name, which is their order. */
export function rankNodes(pod: PendingPod, nodes: readonly NodeInfo[], cluster: Cluster): readonly RankedNode[] {
  if (nodes.length <= 1) return nodes.map(({ name }) => ({ name, score: 0 }));
  const totals = nodes.map(() => 0);
  for (const [score, weight] of SCORES) {
    for (const [index, value] of (score(pod, nodes, cluster) ?? []).entries()) {
      totals[index] = (totals[index] ?? 0) + weight * value;
    }
  }
  return nodes.map(({ name }, index) => ({ name, score: totals[index] ?? 0 })).toSorted((a, b) => b.score - a.score);
}
