import type { EventLoopWatch } from "../../../base/stall-meter.ts";

/** The shortest period of the timer that watches. */
const MIN_PERIOD_MS = 10;

/**
 * Watches the event loop of this thread by a timer, which wakes an idle process as often as its period says. It is late
 * by as long as something held the loop, less what was left of its period then.
 */
export const systemEventLoop: EventLoopWatch = {
  watch(leastMs, tell) {
    const periodMs = Math.max(MIN_PERIOD_MS, leastMs);
    let seenAt = performance.now();
    let usedBefore = process.cpuUsage();
    const timer = setInterval(() => {
      const now = performance.now();
      const heldMs = now - seenAt - periodMs;
      seenAt = now;
      const used = process.cpuUsage();
      const cpuMs = (used.user - usedBefore.user + used.system - usedBefore.system) / 1000;
      usedBefore = used;
      if (heldMs >= leastMs) tell({ heldMs, cpuMs });
    }, periodMs);
    timer.unref();
    return { stop: () => clearInterval(timer) };
  },
};
