import { setTimeout as delay } from "node:timers/promises";

/** Looks again and again, and keeps account of how late that makes what it sees. */
export interface Poll {
  /** Resolves with what `look` gives as soon as that is not undefined. Rejects after a minute, naming `what`. */
  until<T>(what: string, look: () => Promise<T | undefined>): Promise<T>;
  /**
   * How late each thing may have been seen, in milliseconds: from the beginning of the last look that did not show it to
   * the end of the one that did.
   */
  readonly errors: readonly number[];
}

const TIMEOUT_MS = 60_000;

export function createPoll(options: { intervalMs: number; signal: AbortSignal }): Poll {
  const errors: number[] = [];
  return {
    errors,
    async until(what, look) {
      const deadline = performance.now() + TIMEOUT_MS;
      let lastLook: number | undefined;
      for (;;) {
        options.signal.throwIfAborted();
        const begun = performance.now();
        const found = await look();
        if (found !== undefined) {
          errors.push(performance.now() - (lastLook ?? begun));
          return found;
        }
        lastLook = begun;
        if (begun > deadline) throw new Error(`${what} did not happen in ${TIMEOUT_MS / 1000} s`);
        await delay(options.intervalMs);
      }
    },
  };
}
