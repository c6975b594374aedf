import { performance } from "node:perf_hooks";
import type { EventLoopWatch } from "../../../base/stall-meter.ts";

/** The shortest period of the timer that watches. */
const MIN_PERIOD_MS = 10;
/** While the loop is quiet, the timer wakes the process this many times less often. */
const QUIET_FACTOR = 10;
/** The loop is quiet where it was busy for less than this part of a period. */
const QUIET_BELOW = 0.05;

/**
 * Watches the event loop of this thread by a timer, which is late by as long as something held the loop, less what was
 * left of its period then.
 */
export const systemEventLoop: EventLoopWatch = {
  watch(leastMs, tell) {
    const busyMs = Math.max(MIN_PERIOD_MS, leastMs);
    let periodMs = busyMs;
    let seen = readUse();
    let timer = setTimeout(look, periodMs).unref();
    function look(): void {
      const before = seen;
      seen = readUse();
      const heldMs = seen.atMs - before.atMs - periodMs;
      if (heldMs >= leastMs) tell({ heldMs, cpuMs: seen.cpuMs - before.cpuMs });
      const { utilization } = performance.eventLoopUtilization(seen.loop, before.loop);
      arm(utilization < QUIET_BELOW ? busyMs * QUIET_FACTOR : busyMs);
    }
    function arm(nextMs: number): void {
      periodMs = nextMs;
      timer = setTimeout(look, periodMs).unref();
    }
    return {
      expectWork() {
        if (periodMs === busyMs) return;
        clearTimeout(timer);
        seen = readUse();
        arm(busyMs);
      },
      stop: () => clearTimeout(timer),
    };
  },
};

function readUse() {
  const { user, system } = process.cpuUsage();
  return { atMs: performance.now(), cpuMs: (user + system) / 1000, loop: performance.eventLoopUtilization() };
}
