import type { Clock } from "../../base/clock.ts";

/** A clock on this process's timers, for tests that replace those (`vi.useFakeTimers`). */
export const testClock: Clock = {
  now: () => Date.now(),
  monotonic: () => Date.now(),
  setTimer(delayMs, fire) {
    const timer = setTimeout(fire, delayMs);
    return { cancel: () => clearTimeout(timer) };
  },
};
