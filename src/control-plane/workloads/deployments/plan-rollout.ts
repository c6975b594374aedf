import {
  allSets,
  availableReplicas,
  occupiedReplicas,
  type SetsOfDeployment,
  type StoredDeployment,
  type StoredSet,
  sumOf,
  wantedReplicas,
} from "./replica-sets.ts";
import { computeRollingLimits, isRolling } from "./rolling-limits.ts";

/** A set that is to have so many replicas. */
export interface ScaleStep {
  readonly set: StoredSet;
  readonly replicas: number;
}

/**
 * How many replicas a new set begins with, or goes on to: as many as there is room for now. Upstream's `NewRSNewReplicas`
 * counts what sets are to have; a set that was told to shrink still has its pods until they are deleted, which may take
 * long when deletions are refused, and its status says so.
 */
export function computeNewReplicas(deployment: StoredDeployment, sets: SetsOfDeployment): number {
  const wanted = wantedReplicas(deployment);
  if (!isRolling(deployment)) return wanted;
  const current = sets.newSet === undefined ? 0 : wantedReplicas(sets.newSet);
  const room = wanted + computeRollingLimits(deployment).maxSurge - sumOf(allSets(sets), occupiedReplicas);
  return room <= 0 ? current : current + Math.min(room, wanted - current);
}

/**
 * The next steps of a rolling update, none when it has to wait or is complete. The new set grows as far as the surge
 * allows; when it cannot, old sets shrink as far as enough pods stay available (`rolling.go`).
 */
export function planRollingUpdate(deployment: StoredDeployment, sets: SetsOfDeployment): readonly ScaleStep[] {
  const { newSet } = sets;
  if (newSet === undefined) return [];
  const wanted = wantedReplicas(deployment);
  const current = wantedReplicas(newSet);
  const next = current > wanted ? wanted : computeNewReplicas(deployment, sets);
  return next === current ? planShrinking(deployment, newSet, sets) : [{ set: newSet, replicas: next }];
}

/**
 * The steps by which old sets shrink. Pods that are not available go first, because nobody misses them; then as many of
 * the others as are available beyond the least number. Pods of the new set that are not available yet do not count, so
 * that a template that never works takes no more than was allowed.
 */
function planShrinking(deployment: StoredDeployment, newSet: StoredSet, sets: SetsOfDeployment): readonly ScaleStep[] {
  const sizes = new Map(sets.oldSets.map((set) => [set, wantedReplicas(set)]));
  const least = wantedReplicas(deployment) - computeRollingLimits(deployment).maxUnavailable;
  const all = allSets(sets);
  const coming = wantedReplicas(newSet) - availableReplicas(newSet);
  const removable = sumOf(all, wantedReplicas) - least - coming;
  if (removable <= 0) return [];
  const take = (budget: number, countOf: (set: StoredSet, size: number) => number) => {
    let left = budget;
    for (const [set, size] of sizes) {
      const count = Math.max(0, Math.min(left, countOf(set, size)));
      sizes.set(set, size - count);
      left -= count;
    }
  };
  take(removable, (set, size) => size - availableReplicas(set));
  take(sumOf(all, availableReplicas) - least, (_set, size) => size);
  const steps = [...sizes].map(([set, replicas]) => ({ set, replicas }));
  return steps.filter(({ set, replicas }) => replicas !== wantedReplicas(set));
}

/** The steps by which all old sets end, before a deployment recreates its pods. */
export function planEndingOld({ oldSets }: SetsOfDeployment): readonly ScaleStep[] {
  return oldSets.filter((set) => wantedReplicas(set) > 0).map((set) => ({ set, replicas: 0 }));
}
