import { sleep } from "./abort.ts";
import type { Clock } from "./clock.ts";

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
  let left = credit;
  let countedAt = clock.monotonic();
  return {
    async rest(cost, signal) {
      const now = clock.monotonic();
      left = Math.min(credit, left + ((now - countedAt) / 1_000) * perSecond) - cost;
      countedAt = now;
      if (left < 0) await sleep(clock, (-left / perSecond) * 1_000, signal);
    },
  };
}
