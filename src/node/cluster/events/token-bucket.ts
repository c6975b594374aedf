/** How often something may happen: `burst` times at once, and `perSecond` in the long run. */
interface Rate {
  readonly perSecond: number;
  readonly burst: number;
}

/** A token bucket over the time that is handed in (monotonic milliseconds); it starts full. */
export interface TokenBucket {
  /** Takes a token if there is one. */
  tryTake(now: number): boolean;
  /** Takes a token in any case; returns how many milliseconds it is until that token is there. */
  reserve(now: number): number;
}

export function createTokenBucket(rate: Rate, startedAt: number): TokenBucket {
  let tokens = rate.burst;
  let filledAt = startedAt;
  const fill = (now: number) => {
    tokens = Math.min(rate.burst, tokens + (Math.max(0, now - filledAt) / 1000) * rate.perSecond);
    filledAt = Math.max(filledAt, now);
  };
  return {
    tryTake(now) {
      fill(now);
      // A refill is a sum of fractions, and may fall short of a whole token by a rounding.
      if (tokens < 1 - 1e-9) return false;
      tokens -= 1;
      return true;
    },
    reserve(now) {
      fill(now);
      tokens -= 1;
      return tokens >= 0 ? 0 : (-tokens / rate.perSecond) * 1000;
    },
  };
}
