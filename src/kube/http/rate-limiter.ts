import { AbortedError } from "../../base/abort.ts";
import type { Clock, Timer } from "../../base/clock.ts";

/**
 * A token bucket, as `client-go/util/flowcontrol` limits a client: `burst` calls at once, `qps` a second in the long
 * run, in the order of their arrival.
 */
export interface RateLimiter {
  /** Resolves when the call may be made. Rejects with AbortedError when the signal fires first; no token is used then. */
  acquire(signal: AbortSignal): Promise<void>;
}

/** `qps` of zero or less: no limit. */
export function createRateLimiter(clock: Clock, { qps, burst }: { qps: number; burst: number }): RateLimiter {
  if (qps <= 0) return { acquire: async (signal) => refuseAborted(signal) };
  const size = Math.max(1, burst);
  const line: Array<() => void> = [];
  let tokens = size;
  let countedAt = clock.monotonic();
  let timer: Timer | undefined;

  const refill = () => {
    const now = clock.monotonic();
    tokens = Math.min(size, tokens + ((now - countedAt) * qps) / 1_000);
    countedAt = now;
  };
  // What is added up in small steps may miss the whole by a rounding error, and would wait for another millisecond.
  const isOneThere = () => tokens > 1 - 1e-6;
  const admit = () => {
    timer = undefined;
    refill();
    while (line.length > 0 && isOneThere()) {
      tokens -= 1;
      line.shift()?.();
    }
    if (line.length > 0) timer = clock.setTimer(((1 - tokens) * 1_000) / qps, admit);
  };

  return {
    async acquire(signal) {
      refuseAborted(signal);
      refill();
      if (line.length === 0 && isOneThere()) {
        tokens -= 1;
        return;
      }
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
        timer ??= clock.setTimer(((1 - tokens) * 1_000) / qps, admit);
      });
    },
  };
}

function refuseAborted(signal: AbortSignal): void {
  if (signal.aborted) throw new AbortedError();
}
