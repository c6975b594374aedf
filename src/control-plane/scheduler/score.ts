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

/** Chooses the node with the highest score among those that fit; of several, the first by name. */
export function chooseNode(pod: PendingPod, nodes: readonly NodeInfo[], cluster: Cluster): NodeInfo | undefined {
  if (nodes.length <= 1) return nodes[0];
  const totals = nodes.map(() => 0);
  for (const [score, weight] of SCORES) {
    for (const [index, value] of (score(pod, nodes, cluster) ?? []).entries()) {
      totals[index] = (totals[index] ?? 0) + weight * value;
    }
  }
  return nodes[totals.indexOf(Math.max(...totals))];
}
