import type { World } from "./world.ts";

/** The node agent ends the pod for the node's own sake, whatever others want: it is evicted, or the machine goes down. */
export function isEndedByNode({ growth, shutdown }: World, uid: string): boolean {
  return growth?.evicted.has(uid) === true || shutdown?.hasBegun === true;
}
