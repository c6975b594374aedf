import { LRUCache } from "lru-cache";
import type { Clock } from "../../base/clock.ts";
import { createSharedCalls } from "../../base/shared-calls.ts";
import { withDeadline } from "../../base/time-limit.ts";
import { type Asker, createReviewPlaces } from "./review-places.ts";

/**
 * Keeps the API server's answers about users and what they may do. A question that several callers wait for is asked
 * once.
 */
interface ReviewCache<Answer> {
  /**
   * Returns the answer that is kept under the key, or a new one. Rejects as `review` does. Also rejects with a
   * CodedError: `too-many-reviews` if too many are under way, and `timed-out` if the answer does not come.
   */
  ask(key: string, asker: Asker, review: (signal: AbortSignal) => Promise<Reviewed<Answer>>): Promise<Answer>;
}

interface Reviewed<Answer> {
  readonly answer: Answer;
  /** The time for which the answer is kept, in milliseconds. 0 means that it is not kept. */
  readonly keepMs: number;
}

/** An answer that takes longer is of no use to the client that waits for it. */
const TIMEOUT_MS = 10_000;
/**
 * Without this limit the node could ask for as many reviews as it has connections, which would leave the API server no
 * room for others.
 */
const MAX_UNDER_WAY = 64;
/** The most answers that are kept. The one that was asked for longest ago is dropped first. */
const MAX_KEPT = 4096;

export function createReviewCache<Answer>(clock: Pick<Clock, "monotonic" | "setTimer">): ReviewCache<Answer> {
  const kept = new LRUCache<string, { readonly answer: Answer; readonly until: number }>({ max: MAX_KEPT });
  const calls = createSharedCalls<Answer>();
  const places = createReviewPlaces(MAX_UNDER_WAY);

  const keep = (key: string, { answer, keepMs }: Reviewed<Answer>) => {
    if (keepMs <= 0) kept.delete(key);
    else kept.set(key, { answer, until: clock.monotonic() + keepMs });
  };

  const find = (key: string) => {
    const found = kept.get(key);
    if (found === undefined || found.until > clock.monotonic()) return found;
    kept.delete(key);
    return undefined;
  };

  const bounded = async (asker: Asker, review: (signal: AbortSignal) => Promise<Reviewed<Answer>>) =>
    await places.run(asker, async (signal) => {
      return await withDeadline(clock, { timeoutMs: TIMEOUT_MS, signal, what: "the review" }, review);
    });

  return {
    async ask(key, asker, review) {
      const found = find(key);
      if (found !== undefined) return found.answer;
      return await calls.join(key, asker.signal, async (signal) => {
        const reviewed = await bounded({ remoteAddress: asker.remoteAddress, signal }, review);
        keep(key, reviewed);
        return reviewed.answer;
      });
    },
  };
}
