import type { Pod } from "../../../api/gen/types.ts";
import { isPodReady, isTerminalPhase, readyCondition } from "../../../api/pods.ts";
import { parseTime, SECOND } from "../../../base/clock.ts";

/** True for a pod that has not ended and is not being deleted: it counts as a replica. */
export function isPodActive({ metadata, status }: Pod): boolean {
  return !isTerminalPhase(status?.phase) && metadata?.deletionTimestamp === undefined;
}

/** True for a pod that is being deleted and has not ended. */
export function isPodTerminating({ metadata, status }: Pod): boolean {
  return !isTerminalPhase(status?.phase) && metadata?.deletionTimestamp !== undefined;
}

/** Since when the pod is ready, in milliseconds since the epoch; undefined for a pod that is not ready. */
export function podReadySince(pod: Pod): number | undefined {
  return isPodReady(pod) ? parseTime(readyCondition(pod)?.lastTransitionTime) : undefined;
}

/** True for a pod that has been ready for this long. `now` is in milliseconds since the epoch. */
export function isPodAvailable(pod: Pod, minReadySeconds: number, now: number): boolean {
  if (!isPodReady(pod)) return false;
  if (minReadySeconds === 0) return true;
  const since = podReadySince(pod);
  return since !== undefined && since + minReadySeconds * SECOND <= now;
}

/**
 * After how many milliseconds the next of the pods becomes available without any event that tells so; undefined when
 * none does.
 */
export function computeNextAvailableMs(pods: readonly Pod[], minReadySeconds: number, now: number): number | undefined {
  const delays = pods.flatMap((pod) => {
    const since = podReadySince(pod);
    return since === undefined ? [] : [since + minReadySeconds * SECOND - now];
  });
  const ahead = delays.filter((delay) => delay > 0);
  return minReadySeconds > 0 && ahead.length > 0 ? Math.min(...ahead) : undefined;
}
