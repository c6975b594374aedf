import type { Pod } from "../../../api/gen/types.ts";
import { computeBackOff, remainingDelay } from "../../../base/back-off.ts";
import { MINUTE, parseTime, SECOND } from "../../../base/clock.ts";

/** The delay before refused pods are replaced: after one round of them, and at most. */
export const REFUSAL_DELAYS = { initialMs: SECOND, maxMs: 5 * MINUTE };
/** A refusal of so long ago is not counted any more. */
const FORGET_MS = 2 * REFUSAL_DELAYS.maxMs;

/**
 * How long an owner of pods waits before it makes others for those that their nodes refused; 0 when it need not. A node
 * refuses a pod at once, for a host port or a kernel parameter, and would refuse each of its successors: without a wait
 * there are dozens a second, as with upstream. The first round is replaced after a second, and each further one after twice
 * that; fewer refusals than replicas are no round, because other nodes may take the successors.
 */
export function remainingRefusalMs(pods: readonly Pod[], replicas: number, now: number): number {
  const created = pods.filter(isRefused).map(({ metadata }) => parseTime(metadata?.creationTimestamp) ?? 0);
  const counted = created.filter((time) => now - time < FORGET_MS);
  const rounds = Math.floor(counted.length / Math.max(1, replicas));
  if (rounds === 0) return 0;
  return remainingDelay(computeBackOff(rounds, REFUSAL_DELAYS), Math.max(...counted), now);
}

/** True for a pod that failed before anything of it was started. */
export function isRefused({ status }: Pod): boolean {
  return status?.phase === "Failed" && (status.containerStatuses ?? []).length === 0;
}
