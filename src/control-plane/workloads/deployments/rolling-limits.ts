import { scaledCount } from "../pod-control/scaled-count.ts";
import { type StoredDeployment, wantedReplicas } from "./replica-sets.ts";

interface RollingLimits {
  /** How many pods there may be beyond those that are wanted. */
  readonly maxSurge: number;
  /** How many of those that are wanted may be missing. */
  readonly maxUnavailable: number;
}

/** True for a deployment that replaces its pods step by step, and not all at once. */
export function isRolling({ spec }: StoredDeployment): boolean {
  return (spec?.strategy?.type ?? "RollingUpdate") === "RollingUpdate";
}

/**
 * The limits of a rolling update in numbers of pods. When both round to none, one may be unavailable: nothing could
 * move otherwise (`ResolveFenceposts`). Both are 0 for a deployment that recreates its pods.
 */
export function computeRollingLimits(deployment: StoredDeployment): RollingLimits {
  if (!isRolling(deployment)) return { maxSurge: 0, maxUnavailable: 0 };
  const replicas = wantedReplicas(deployment);
  const { maxSurge, maxUnavailable } = deployment.spec?.strategy?.rollingUpdate ?? {};
  const surge = scaledCount(maxSurge, replicas, "up") ?? 0;
  const unavailable = scaledCount(maxUnavailable, replicas, "down") ?? 0;
  const least = surge === 0 && unavailable === 0 ? 1 : unavailable;
  return { maxSurge: surge, maxUnavailable: Math.min(least, replicas) };
}
