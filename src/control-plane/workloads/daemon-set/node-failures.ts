import type { DaemonSet } from "../../../api/gen/types.ts";
import { computeBackOff } from "../../../base/back-off.ts";
import { type Clock, MINUTE, SECOND } from "../../../base/clock.ts";

/** How long a failed pod stays before it is deleted: after one failure on its node, and at most. */
const DELAYS = { initialMs: SECOND, maxMs: 15 * MINUTE };
/** A node on which nothing failed for so long starts over. */
const FORGET_MS = 2 * DELAYS.maxMs;

/** The pods of daemon sets that failed, by node. It is forgotten with the process, as upstream's is. */
export interface NodeFailures {
  /** How long the failed pod of a node still stays; 0 when it may go, which counts as one more failure. */
  takeTurn(set: DaemonSet, node: string): number;
  /** Forgets a set that is gone. */
  forget(uid: string): void;
}

interface NodeFailure {
  readonly count: number;
  readonly at: number;
  /** Another generation of the set starts over. */
  readonly generation: number | undefined;
}

/** Knows of no failures. There is an entry for a node of a set at most. */
export function createNodeFailures(clock: Clock): NodeFailures {
  const bySet = new Map<string, Map<string, NodeFailure>>();
  return {
    takeTurn({ metadata = {} }, node) {
      const { uid = "", generation } = metadata;
      const failures = bySet.get(uid) ?? new Map<string, NodeFailure>();
      bySet.set(uid, failures);
      const at = clock.monotonic();
      const known = failures.get(node);
      const isSame = known !== undefined && known.generation === generation && at - known.at <= FORGET_MS;
      const waitMs = isSame ? known.at + computeBackOff(known.count, DELAYS) - at : 0;
      if (waitMs > 0) return waitMs;
      failures.set(node, { count: isSame ? known.count + 1 : 1, at, generation });
      return 0;
    },
    forget: (uid) => bySet.delete(uid),
  };
}
