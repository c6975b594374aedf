import type { Log } from "./log.ts";
import type { Metrics } from "./metrics.ts";

/** How long one turn of the event loop took, as a watch of the loop saw it. */
export interface Stall {
  /** Milliseconds in which nothing else ran; there may have been up to the watch's period more of them. */
  readonly heldMs: number;
  /** CPU time of the whole process meanwhile: much less of it says that the machine was busy, and not the process. */
  readonly cpuMs: number;
}

/** Watches the event loop, and tells of each turn that was long. */
export interface EventLoopWatch {
  /**
   * Calls `tell` after each turn of at least `leastMs`, until it is stopped; a turn of less than twice that may escape
   * it. It keeps no process alive, and wakes a quiet one less often: of the turn that ends the quiet, ten times `leastMs`
   * may escape it, unless the turn begins with `expectWork`.
   */
  watch(leastMs: number, tell: (stall: Stall) => void): LoopWatching;
}

interface LoopWatching {
  /** Says that work begins, such as the handling of a request. It costs next to nothing. */
  expectWork(): void;
  stop(): void;
}

interface StallMeterDeps {
  readonly loop: EventLoopWatch;
  readonly metrics: Metrics;
  readonly log: Log;
  /** Milliseconds from any start, for the rate of the log. */
  monotonic(): number;
  /** What the process began last, such as the request that was handled: most likely it is what held the loop. */
  lastWork?(): string | undefined;
}

/** Shorter turns are not counted: they cost nobody anything. */
const LEAST_MS = 100;
/** Longer ones are logged, because other clients notice them. */
const LOGGED_MS = 250;
/** A line in the log at most so often; the metric counts the others. */
const LOG_INTERVAL_MS = 10_000;
const BUCKETS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/**
 * Measures how long single pieces of work keep everything else in the process waiting, as the histogram
 * `nodelet_event_loop_stall_seconds`, and logs the long ones with what was being worked on.
 */
export function startStallMeter({ loop, metrics, log, monotonic, lastWork }: StallMeterDeps): LoopWatching {
  const stalls = metrics.histogram(
    "nodelet_event_loop_stall_seconds",
    "How long single pieces of work of at least 100 ms kept everything else in the process waiting.",
    { buckets: BUCKETS },
  );
  let loggedAtMs = Number.NEGATIVE_INFINITY;
  return loop.watch(LEAST_MS, ({ heldMs, cpuMs }) => {
    stalls.observe(heldMs / 1000);
    if (heldMs < LOGGED_MS || monotonic() - loggedAtMs < LOG_INTERVAL_MS) return;
    loggedAtMs = monotonic();
    const during = lastWork?.();
    log.warn("one piece of work kept everything else waiting", {
      heldMs: Math.round(heldMs),
      cpuMs: Math.round(cpuMs),
      ...(during !== undefined && { during }),
    });
  });
}
