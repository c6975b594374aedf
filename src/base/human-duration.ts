const SECOND = 1;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const YEAR = 365 * DAY;

/** Each line says: below this many seconds, show the first unit, and the second one while it is not zero. */
const SCALE: ReadonlyArray<readonly [below: number, unit: number, name: string, rest?: readonly [number, string]]> = [
  [2 * MINUTE, SECOND, "s"],
  [10 * MINUTE, MINUTE, "m", [SECOND, "s"]],
  [3 * HOUR, MINUTE, "m"],
  [8 * HOUR, HOUR, "h", [MINUTE, "m"]],
  [2 * DAY, HOUR, "h"],
  [8 * DAY, DAY, "d", [HOUR, "h"]],
  [2 * YEAR, DAY, "d"],
  [8 * YEAR, YEAR, "y", [DAY, "d"]],
  [Number.POSITIVE_INFINITY, YEAR, "y"],
];

/** A duration as kubectl prints ages: two to three digits, exact while it is short. */
export function formatHumanDuration(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  if (seconds < -1) return "<invalid>";
  if (seconds < 0) return "0s";
  for (const [below, unit, name, rest] of SCALE) {
    if (seconds >= below) continue;
    const whole = Math.floor(seconds / unit);
    const left = rest === undefined ? 0 : Math.floor((seconds - whole * unit) / rest[0]);
    return left === 0 ? `${whole}${name}` : `${whole}${name}${left}${rest?.[1]}`;
  }
  return "";
}
