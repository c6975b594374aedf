import { desiredReplicasOf, maxReplicasOf } from "./annotations.ts";
import type { ScaleStep } from "./plan-rollout.ts";
import {
  allSets,
  availableReplicas,
  compareAge,
  type SetsOfDeployment,
  type StoredDeployment,
  type StoredSet,
  sumOf,
  wantedReplicas,
} from "./replica-sets.ts";
import { computeRollingLimits, isRolling } from "./rolling-limits.ts";

/** True when the deployment wants another number of replicas than when it last changed its sets. */
export function isBeingScaled(deployment: StoredDeployment, sets: SetsOfDeployment): boolean {
  return activeSets(sets).some((set) => {
    const desired = desiredReplicasOf(set);
    return desired !== undefined && desired !== wantedReplicas(deployment);
  });
}

const activeSets = (sets: SetsOfDeployment) => allSets(sets).filter((set) => wantedReplicas(set) > 0);

/**
 * The steps by which the sets take a new size of the deployment over. The only active set takes all of it. In the middle
 * of a rollout each set gets its part, so that the rollout is as far as before (`scale` in `sync.go`). A set whose size
 * stays is among the steps too, because it has to remember the deployment's.
 */
export function planScaling(deployment: StoredDeployment, sets: SetsOfDeployment): readonly ScaleStep[] {
  const { newSet, oldSets } = sets;
  const replicas = wantedReplicas(deployment);
  const active = activeSets(sets);
  if (active.length <= 1) {
    const only = active[0] ?? newSet ?? oldSets.at(-1);
    return only === undefined ? [] : [{ set: only, replicas }];
  }
  if (newSet !== undefined && isSaturated(deployment, newSet)) {
    return active.filter((set) => set !== newSet).map((set) => ({ set, replicas: 0 }));
  }
  return isRolling(deployment) ? planProportions(deployment, active) : [];
}

/** True when the set has all replicas of the deployment, and all are available. */
function isSaturated(deployment: StoredDeployment, set: StoredSet): boolean {
  const replicas = wantedReplicas(deployment);
  return wantedReplicas(set) === replicas && desiredReplicasOf(set) === replicas && availableReplicas(set) === replicas;
}

/** Distributes what is added or removed by the sizes of the sets. The largest takes what rounding leaves. */
function planProportions(deployment: StoredDeployment, active: readonly StoredSet[]): readonly ScaleStep[] {
  const replicas = wantedReplicas(deployment);
  const allowed = replicas === 0 ? 0 : replicas + computeRollingLimits(deployment).maxSurge;
  const change = allowed - sumOf(active, wantedReplicas);
  const inOrder = active.toSorted((left, right) => {
    const bySize = wantedReplicas(right) - wantedReplicas(left);
    return bySize || (change > 0 ? compareAge(right, left) : compareAge(left, right));
  });
  let rest = change;
  const steps = inOrder.map((set) => {
    const part = rest === 0 ? 0 : proportionOf(deployment, set);
    const taken = change > 0 ? Math.min(part, rest) : Math.max(part, rest);
    rest -= taken;
    return { set, replicas: wantedReplicas(set) + taken };
  });
  return steps.map((step, index) => {
    return index === 0 ? { ...step, replicas: Math.max(0, step.replicas + rest) } : step;
  });
}

/** How much the set grows or shrinks when it keeps its part of the deployment (`getReplicaSetFraction`). */
function proportionOf(deployment: StoredDeployment, set: StoredSet): number {
  const replicas = wantedReplicas(deployment);
  const size = wantedReplicas(set);
  if (replicas === 0) return -size;
  // Somebody may have removed the annotation. The size that the status tells is the next best.
  const before = maxReplicasOf(set) || (deployment.status?.replicas ?? 0);
  if (before === 0) return 0;
  const max = replicas + computeRollingLimits(deployment).maxSurge;
  return Math.round((size * max) / before) - size;
}
