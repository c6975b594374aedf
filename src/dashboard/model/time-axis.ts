import { MINUTE, SECOND } from "../../base/clock.ts";

/** A place on an axis: `at` is from 0 to 1, and `offsetMs` counts from the axis' beginning. */
interface Tick {
  readonly at: number;
  readonly offsetMs: number;
}

const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const STEPS = [
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500],
  ...[1, 2, 5, 10, 15, 30].map((count) => count * SECOND),
  ...[1, 2, 5, 10, 15, 30].map((count) => count * MINUTE),
  ...[1, 2, 3, 6, 12].map((count) => count * HOUR),
  ...[1, 2, 7, 14, 28].map((count) => count * DAY),
];

/** Chooses round times on an axis of this length, `most` of them at most beside the beginning. */
export function computeTicks(lengthMs: number, most: number): Tick[] {
  if (!(lengthMs > 0)) return [{ at: 0, offsetMs: 0 }];
  const longest = 28 * DAY;
  const step = STEPS.find((ms) => lengthMs / ms <= most) ?? longest * Math.ceil(lengthMs / longest / most);
  const count = Math.floor(lengthMs / step);
  return Array.from({ length: count + 1 }, (_, index) => ({ at: (index * step) / lengthMs, offsetMs: index * step }));
}

/** A short time in words: `340 ms`, `1.25 s`, `2 min 5 s`. */
export function formatShortTime(ms: number): string {
  if (ms < SECOND) return `${Math.round(ms)} ms`;
  if (ms < 10 * SECOND) return `${Number((ms / SECOND).toFixed(2))} s`;
  if (ms < MINUTE) return `${Number((ms / SECOND).toFixed(1))} s`;
  const [whole, small, units] =
    ms < HOUR ? [MINUTE, SECOND, ["min", "s"]] : ms < DAY ? [HOUR, MINUTE, ["h", "min"]] : [DAY, HOUR, ["d", "h"]];
  const rest = Math.floor((ms % whole) / small);
  return `${Math.floor(ms / whole)} ${units[0]}${rest === 0 ? "" : ` ${rest} ${units[1]}`}`;
}
