import { AbortedError } from "./abort.ts";
import type { Clock, Timer } from "./clock.ts";
import { createTokenBucket } from "./token-bucket.ts";

/**
 * Limits calls as `client-go/util/flowcontrol` does: it lets `burst` of them through at once and `qps` a second in the
 * long run, in the order of their arrival.
 */
export interface RateLimiter {
  /**
   * Resolves when the call may be made. Rejects with `AbortedError` when the signal fires first, and then uses no
   * token.
   */
  acquire(signal: AbortSignal): Promise<void>;
}

/** A `qps` of zero or less means no limit. A `burst` below one counts as one. */
export function createRateLimiter(clock: Clock, { qps, burst }: { qps: number; burst: number }): RateLimiter {
  if (qps <= 0) return { acquire: async (signal) => refuseAborted(signal) };
  const bucket = createTokenBucket({ perSecond: qps, burst: Math.max(1, burst) }, clock.monotonic());
  const line: Array<() => void> = [];
  let timer: Timer | undefined;

  const awaitToken = () => {
    timer ??= clock.setTimer(bucket.waitMs(clock.monotonic()), admit);
  };
  const admit = () => {
    timer = undefined;
    while (line.length > 0 && bucket.tryTake(clock.monotonic())) line.shift()?.();
    if (line.length > 0) awaitToken();
  };

  return {
    async acquire(signal) {
      refuseAborted(signal);
      if (line.length === 0 && bucket.tryTake(clock.monotonic())) return;
      await new Promise<void>((proceed, reject) => {
        const enter = () => {
          signal.removeEventListener("abort", leave);
          proceed();
        };
        const leave = () => {
          line.splice(line.indexOf(enter), 1);
          if (line.length === 0) {
            timer?.cancel();
            timer = undefined;
          }
          reject(new AbortedError());
        };
        signal.addEventListener("abort", leave, { once: true });
        line.push(enter);
        awaitToken();
      });
    },
  };
}

function refuseAborted(signal: AbortSignal): void {
  if (signal.aborted) throw new AbortedError();
}
