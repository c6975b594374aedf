import type { ObjectMeta } from "../../../api/gen/types.ts";
import { type BackOffRange, computeBackOff } from "../../../base/back-off.ts";
import type { Clock } from "../../../base/clock.ts";

/**
 * The pods that failed at the places of their owners: a node of a daemon set, an ordinal of a stateful set. It is forgotten
 * with the process, as upstream's of daemon sets is.
 */
export interface FailureTurns {
  /** How long the failed pod of a place still stays; 0 when it may go, which counts as one more failure. */
  takeTurn(owner: { readonly metadata?: ObjectMeta }, place: string): number;
  /** Forgets an owner that is gone. */
  forget(uid: string): void;
}

interface Failure {
  readonly count: number;
  readonly at: number;
  /** Another generation of the owner starts over. */
  readonly generation: number | undefined;
}

/**
 * Knows of no failures. There is an entry for a place of an owner at most. The first failed pod of a place goes at once, the
 * next one `initialMs` later, and so on. A place where nothing failed for twice the longest delay starts over.
 */
export function createFailureTurns(clock: Clock, delays: BackOffRange): FailureTurns {
  const byOwner = new Map<string, Map<string, Failure>>();
  return {
    takeTurn({ metadata = {} }, place) {
      const { uid = "", generation } = metadata;
      const failures = byOwner.get(uid) ?? new Map<string, Failure>();
      byOwner.set(uid, failures);
      const at = clock.monotonic();
      const known = failures.get(place);
      const isSame = known !== undefined && known.generation === generation && at - known.at <= 2 * delays.maxMs;
      const waitMs = isSame ? known.at + computeBackOff(known.count, delays) - at : 0;
      if (waitMs > 0) return waitMs;
      failures.set(place, { count: isSame ? known.count + 1 : 1, at, generation });
      return 0;
    },
    forget: (uid) => byOwner.delete(uid),
  };
}
