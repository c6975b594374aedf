import type { Amounts } from "../../../api/pod-requests.ts";
import type { NodeInfo } from "../cluster.ts";
import { MAX_SCORE, type ScoreNodes } from "./node-score.ts";

/** The resources that decide how full a node is. */
const RESOURCES = ["cpu", "memory"] as const;

/** The more of the node stays free, the better (`plugins/noderesources`, the strategy LeastAllocated). */
export const scoreFreeShare: ScoreNodes = ({ info }, nodes) => {
  return nodes.map(({ allocatable, assumed }) => {
    const shares = RESOURCES.flatMap((name) => {
      const capacity = allocatable.get(name) ?? 0n;
      if (capacity === 0n) return [];
      const used = (assumed.get(name) ?? 0n) + (info.assumed.get(name) ?? 0n);
      return [used > capacity ? 0 : Number(((capacity - used) * BigInt(MAX_SCORE)) / capacity)];
    });
    return shares.length === 0 ? 0 : Math.trunc(shares.reduce((sum, share) => sum + share, 0) / shares.length);
  });
};

/** The more evenly the node's resources are used with the pod than without it, the better. */
export const scoreBalance: ScoreNodes = ({ info: { requests } }, nodes) => {
  if (RESOURCES.every((name) => !requests.has(name))) return undefined;
  return nodes.map((node) => {
    const gained = balanceOf(node, requests) - balanceOf(node, new Map());
    return MAX_SCORE / 2 + Math.trunc((MAX_SCORE / 2 + gained) / 2);
  });
};

/** The full score where all resources are used to the same share. */
function balanceOf({ allocatable, requested }: NodeInfo, added: Amounts): number {
  const shares = RESOURCES.flatMap((name) => {
    const capacity = allocatable.get(name) ?? 0n;
    const used = (requested.get(name) ?? 0n) + (added.get(name) ?? 0n);
    return capacity === 0n ? [] : [Math.min(1, Number(used) / Number(capacity))];
  });
  const [first = 0, second = first] = shares;
  return Math.trunc((1 - Math.abs((first - second) / 2)) * MAX_SCORE);
}
