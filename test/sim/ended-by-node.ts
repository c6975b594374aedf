import type { World } from "./world.ts";

/**
 * The node agent ends the pod for the node's own sake, whatever others want: it is evicted, or preempted, or an agent
 * that was just started has no place for it, or the machine goes down.
 */
export function isEndedByNode({ growth, places, shutdown, shortage }: World, uid: string): boolean {
  if (shortage?.evicted.has(uid) === true || shortage?.refused.has(uid) === true) return true;
  return growth?.evicted.has(uid) === true || places?.givenUp.has(uid) === true || shutdown?.hasBegun === true;
}
