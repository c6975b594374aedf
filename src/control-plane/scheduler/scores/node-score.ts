import type { Cluster, NodeInfo, PendingPod } from "../cluster.ts";

/** The best score of a node. */
export const MAX_SCORE = 100;

/**
 * Scores the nodes that fit, in their order, each with a whole number from 0 to `MAX_SCORE`; undefined where the score
 * has nothing to say about the pod.
 */
export type ScoreNodes = (
  pod: PendingPod,
  nodes: readonly NodeInfo[],
  cluster: Cluster,
) => readonly number[] | undefined;

/** Scales values so that the greatest becomes the full score (`DefaultNormalizeScore`); nothing but zeros stays so. */
export function scaleToGreatest(values: readonly number[]): number[] {
  const greatest = Math.max(...values);
  return values.map((value) => (greatest === 0 ? 0 : Math.trunc((MAX_SCORE * value) / greatest)));
}
