import { sleep } from "./abort.ts";
import type { Clock } from "./clock.ts";
import { createTokenBucket } from "./token-bucket.ts";

/** Keeps somebody who sends as much as he likes from taking all of the time: what costs more is taken less often. */
interface Pace {
  /**
   * To be awaited after each piece of work. Resolves at once while there is credit, else when the credit is back. Rejects
   * with AbortedError when the signal fires.
   */
  rest(cost: number, signal: AbortSignal): Promise<void>;
}

interface PaceOptions {
  /** What comes back in a second. */
  readonly perSecond: number;
  /** What may be spent at once. */
  readonly credit: number;
}

export function createPace(clock: Clock, { perSecond, credit }: PaceOptions): Pace {
  const bucket = createTokenBucket({ perSecond, burst: credit }, clock.monotonic());
  return {
    async rest(cost, signal) {
      const owedMs = bucket.spend(cost, clock.monotonic());
      if (owedMs > 0) await sleep(clock, owedMs, signal);
    },
  };
}
