/** The allowed rate: `burst` times at once, and `perSecond` in the long run. */
interface Rate {
  readonly perSecond: number;
  readonly burst: number;
}

/** A token bucket over the time that is handed in (monotonic milliseconds). It starts full. */
export interface TokenBucket {
  /** Takes a token if there is one. */
  tryTake(now: number): boolean;
  /** Milliseconds until there is a token to take; 0 when there is one. */
  waitMs(now: number): number;
  /** Takes so many tokens, there or not. Returns the milliseconds until none is owed; 0 when none is. */
  spend(count: number, now: number): number;
}

/** A refill is a sum of fractions, and may fall short of a whole token by a rounding error. */
const WHOLE = 1 - 1e-6;

/** The bucket is full at `startedAt`. */
export function createTokenBucket(rate: Rate, startedAt: number): TokenBucket {
  let tokens = rate.burst;
  let filledAt = startedAt;
  const fill = (now: number) => {
    tokens = Math.min(rate.burst, tokens + (Math.max(0, now - filledAt) / 1_000) * rate.perSecond);
    filledAt = Math.max(filledAt, now);
  };
  return {
    tryTake(now) {
      fill(now);
      if (tokens < WHOLE) return false;
      tokens -= 1;
      return true;
    },
    waitMs(now) {
      fill(now);
      return tokens < WHOLE ? ((1 - tokens) * 1_000) / rate.perSecond : 0;
    },
    spend(count, now) {
      fill(now);
      tokens -= count;
      return tokens < 0 ? (-tokens * 1_000) / rate.perSecond : 0;
    },
  };
}
