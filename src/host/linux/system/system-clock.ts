import type { Clock, Timer } from "../../../base/clock.ts";

/** The longest that `setTimeout` waits. It fires at once for a longer time. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  setTimer,
};

function setTimer(delayMs: number, fire: () => void): Timer {
  let handle: NodeJS.Timeout;
  const arm = (leftMs: number) => {
    const waitMs = Math.min(leftMs, MAX_TIMEOUT_MS);
    handle = setTimeout(() => (leftMs > waitMs ? arm(leftMs - waitMs) : fire()), waitMs);
  };
  // The delay is rounded up, because `setTimeout` drops the fraction and would fire before its time.
  arm(Math.max(0, Math.ceil(delayMs)));
  return { cancel: () => clearTimeout(handle) };
}
