import { assert } from "../../base/assert.ts";
import type { Clock } from "../../base/clock.ts";

/**
 * A clock that stands still until it is told to go on. Timers fire in order of their time, then of their creation, so a
 * run is the same every time.
 */
export interface FakeClock extends Clock {
  /**
   * Lets `ms` pass: fires the timers that fall due one by one, each at its own time, and lets all work that hangs on
   * one settle before the next fires.
   */
  advance(ms: number): Promise<void>;
  /** Lets everything happen that needs no time, timers without delay included. It is the same as `advance(0)`. */
  settle(): Promise<void>;
  /** Moves the wall clock, forward or back, without letting time pass: no timer fires and `monotonic` stays. */
  jumpWallClock(ms: number): void;
  /** Milliseconds until the next timer falls due; undefined when none is set. */
  untilNextTimer(): number | undefined;
  /** Timers that are set and have not fired. */
  readonly pendingTimers: number;
}

interface FakeTimer {
  readonly at: number;
  readonly order: number;
  readonly fire: () => void;
}

/** More timers in one `advance` mean that a timer re-arms itself without letting time pass. */
const MAX_FIRES_PER_ADVANCE = 1_000_000;
const DEFAULT_NOW = Date.UTC(2026, 0, 1);

/** `now`: the wall clock's start, milliseconds since the epoch. Default the first second of 2026. */
export function createFakeClock(options: { now?: number } = {}): FakeClock {
  const timers: FakeTimer[] = [];
  let wallClockOffset = options.now ?? DEFAULT_NOW;
  let elapsed = 0;
  let order = 0;

  const fireDue = async (until: number) => {
    await drain();
    for (let fired = 0; ; fired++) {
      const next = timers[0];
      if (next === undefined || next.at > until) return;
      assert(fired < MAX_FIRES_PER_ADVANCE, "timers re-arm themselves without end");
      timers.shift();
      elapsed = Math.max(elapsed, next.at);
      next.fire();
      await drain();
    }
  };

  const advance = async (ms: number) => {
    assert(ms >= 0, "time does not go back");
    const until = elapsed + ms;
    await fireDue(until);
    elapsed = Math.max(elapsed, until);
  };

  return {
    now: () => wallClockOffset + elapsed,
    monotonic: () => elapsed,
    setTimer(delayMs, fire) {
      assert(!Number.isNaN(delayMs), "a timer's delay is a number");
      const timer = { at: elapsed + Math.max(0, delayMs), order: order++, fire };
      timers.splice(findPlace(timers, timer), 0, timer);
      return { cancel: () => removeTimer(timers, timer) };
    },
    advance,
    settle: async () => advance(0),
    jumpWallClock: (ms) => {
      wallClockOffset += ms;
    },
    untilNextTimer: () => (timers[0] === undefined ? undefined : Math.max(0, timers[0].at - elapsed)),
    get pendingTimers() {
      return timers.length;
    },
  };
}

/** Everything above rank 2 waits on promises only. A turn of the real loop begins when no promise is left to run. */
async function drain(): Promise<void> {
  await new Promise<void>((resolve) => setImmediate(resolve));
}

/** The index of the first timer that fires after this one. */
function findPlace(timers: readonly FakeTimer[], timer: FakeTimer): number {
  let low = 0;
  let high = timers.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const other = timers[middle];
    if (other !== undefined && (other.at < timer.at || (other.at === timer.at && other.order < timer.order))) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

function removeTimer(timers: FakeTimer[], timer: FakeTimer): void {
  const place = findPlace(timers, timer);
  if (timers[place] === timer) timers.splice(place, 1);
}
