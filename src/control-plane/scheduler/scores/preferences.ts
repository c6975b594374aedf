import { matchesTerm } from "../../../api/selectors/node-selector.ts";
import { tolerates } from "../../../api/tolerations.ts";
import type { NodeInfo, PendingPod } from "../cluster.ts";
import { MAX_SCORE, type ScoreNodes, scaleToGreatest } from "./node-score.ts";

/** The fewer taints ask pods like this one to stay away, the better (`plugins/tainttoleration`). */
export const scoreTaints: ScoreNodes = (pod, nodes) => {
  return scaleToGreatest(nodes.map((node) => countUnwelcoming(pod, node))).map((score) => MAX_SCORE - score);
};

function countUnwelcoming({ spec: { tolerations = [] } }: PendingPod, { taints }: NodeInfo): number {
  return taints.filter((taint) => {
    return taint.effect === "PreferNoSchedule" && !tolerations.some((toleration) => tolerates(toleration, taint));
  }).length;
}

/** The more of the nodes' labels the pod prefers, the better (`plugins/nodeaffinity`). */
export const scoreNodeAffinity: ScoreNodes = ({ spec }, nodes) => {
  const preferred = spec.affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
  if (preferred.length === 0) return undefined;
  const weigh = (node: NodeInfo) =>
    preferred.reduce((sum, { weight, preference }) => (matchesTerm(preference, node) ? sum + weight : sum), 0);
  return scaleToGreatest(nodes.map(weigh));
};
