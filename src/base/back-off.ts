/**
 * Exponential back-off by key, as `client-go/util/flowcontrol.Backoff` counts it. The first failure waits `initialMs`,
 * and each further one waits twice as long, up to `maxMs`. An attempt that lasted longer than `resetMs` starts the key
 * over.
 *
 * It is pure over the `now` that is handed in, and owns no timer. The caller asks `waitUntil` and sets its own timer,
 * so that a wait ends when the back-off does and not at the next tick of something else.
 */
export interface BackOff {
  /** When a key whose last attempt ended at `endedAt` may be tried again; undefined if it may be now. */
  waitUntil(key: string, endedAt: number, now: number): number | undefined;
  /**
   * Counts one more attempt, made at `now` because the last one ended at `endedAt`. Returns the delay before the next
   * one.
   */
  next(key: string, endedAt: number, now: number): number;
  /** The current delay of the key; 0 for a key that never failed. */
  delay(key: string): number;
  /** Forgets the key. */
  reset(key: string): void;
  /** Forgets every key that begins with the prefix. */
  resetAll(prefix: string): void;
  /**
   * Forgets the keys whose last attempt is so long ago that no wait for them can be under way. Returns how many are
   * left.
   */
  collect(now: number): number;
}

/** The delay after this many failures in a row: `initialMs` after the first, twice as long after each further one. */
export function computeBackOff(failures: number, { initialMs, maxMs }: BackOffRange): number {
  return Math.min(initialMs * 2 ** Math.max(0, failures - 1), maxMs);
}

/**
 * How much of a delay after `failedAt` is left; 0 when it is over. Both are milliseconds since the epoch, told perhaps by
 * other clocks: a failure further ahead than the delay itself was told by a clock that has been set back since, and waiting
 * for that time again would take as long as it was set back.
 */
export function remainingDelay(delayMs: number, failedAt: number, now: number): number {
  const elapsedMs = now - failedAt;
  return elapsedMs < -delayMs ? 0 : Math.max(0, delayMs - elapsedMs);
}

/** The shortest and the longest delay. */
export interface BackOffRange {
  initialMs: number;
  maxMs: number;
}

interface BackOffOptions extends BackOffRange {
  /** An attempt that lasted longer than this starts the key over. Default 2 × `maxMs`. */
  resetMs?: number;
}

interface Entry {
  delayMs: number;
  attemptedAt: number;
}

export function createBackOff(options: BackOffOptions): BackOff {
  const resetMs = options.resetMs ?? 2 * options.maxMs;
  const entries = new Map<string, Entry>();
  const startsOver = (entry: Entry, endedAt: number) => endedAt - entry.attemptedAt > resetMs;

  return {
    waitUntil(key, endedAt, now) {
      const entry = entries.get(key);
      if (entry === undefined || startsOver(entry, endedAt)) return undefined;
      const until = endedAt + entry.delayMs;
      return until > now ? until : undefined;
    },
    next(key, endedAt, now) {
      const entry = entries.get(key);
      const fresh = entry === undefined || startsOver(entry, endedAt);
      const delayMs = fresh ? options.initialMs : Math.min(entry.delayMs * 2, options.maxMs);
      entries.set(key, { delayMs, attemptedAt: now });
      return delayMs;
    },
    delay: (key) => entries.get(key)?.delayMs ?? 0,
    reset: (key) => entries.delete(key),
    resetAll(prefix) {
      for (const key of entries.keys()) if (key.startsWith(prefix)) entries.delete(key);
    },
    collect(now) {
      // An attempt may have lasted `resetMs` and be followed by the longest delay.
      for (const [key, entry] of entries) if (startsOver(entry, now - options.maxMs)) entries.delete(key);
      return entries.size;
    },
  };
}
