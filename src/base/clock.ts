/**
 * Time as a value that is handed in. Everything above rank 2 tells the time and waits only through a `Clock`, so that
 * the simulator can run a day in a second and a test never sleeps.
 */
export interface Clock {
  /**
   * Wall-clock time, milliseconds since the Unix epoch. It may jump, so use it only for times that leave this process.
   */
  now(): number;
  /** Milliseconds from an arbitrary start; never goes back. Use it for durations. */
  monotonic(): number;
  /** Calls `fire` once, `delayMs` from now (a negative or zero delay: as soon as possible). */
  setTimer(delayMs: number, fire: () => void): Timer;
}

export interface Timer {
  /** Idempotent; after it returns `fire` is not called any more. */
  cancel(): void;
}

/** RFC 3339 with whole seconds, as `metav1.Time` is written. */
export function formatTime(ms: number): string {
  return `${new Date(Math.floor(ms / 1000) * 1000).toISOString().slice(0, 19)}Z`;
}

/** RFC 3339 with nanosecond digits, as kubelet writes `kubernetes.io/config.seen`. */
export function formatTimeNano(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, -1)}000000Z`;
}

/** The milliseconds since the epoch of an RFC 3339 time; undefined where the text is absent or is no such time. */
export function parseTime(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? undefined : ms;
}

export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;
