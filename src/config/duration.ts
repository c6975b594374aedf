/** Nanoseconds of each unit that Go's `time.ParseDuration` knows. */
const UNIT_NANOSECONDS: Readonly<Record<string, number>> = {
  ns: 1,
  us: 1e3,
  "\u00b5s": 1e3,
  "\u03bcs": 1e3,
  ms: 1e6,
  s: 1e9,
  m: 60e9,
  h: 3_600e9,
};

/** A digit can belong to one part of the pattern only, so that a long text without a unit is refused in one pass. */
const DURATION = /^[+-]?(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|\u00b5s|\u03bcs|ms|s|m|h))+$/;
const TERM = /(\d+(?:\.\d*)?|\.\d+)(ns|us|\u00b5s|\u03bcs|ms|s|m|h)/g;

/** Go keeps durations in an int64 of nanoseconds: about 292 years. */
const MAX_NANOSECONDS = 2 ** 63;

/**
 * Returns the milliseconds of a duration in Go's syntax (`1m30s`, `1.5h`, `-100ms`, `0`), with any fraction of a
 * millisecond; undefined where Go refuses the text.
 */
export function parseDuration(text: string): number | undefined {
  if (/^[+-]?0$/.test(text)) return 0;
  if (!DURATION.test(text)) return undefined;
  let nanoseconds = 0;
  for (const [, amount, unit] of text.matchAll(TERM)) {
    nanoseconds += Number(amount) * (UNIT_NANOSECONDS[unit ?? ""] ?? 0);
  }
  if (nanoseconds >= MAX_NANOSECONDS) return undefined;
  return nanoseconds === 0 ? 0 : (text.startsWith("-") ? -nanoseconds : nanoseconds) / 1e6;
}

/** Formats a duration as Go prints it: `1m0s`, `100ms`, `4h0m0s`, `0s`. */
export function formatDuration(ms: number): string {
  const nanoseconds = Math.round(Math.abs(ms) * 1e6);
  const sign = ms < 0 && nanoseconds > 0 ? "-" : "";
  if (nanoseconds === 0) return "0s";
  if (nanoseconds < 1e3) return `${sign}${nanoseconds}ns`;
  if (nanoseconds < 1e6) return `${sign}${nanoseconds / 1e3}\u00b5s`;
  if (nanoseconds < 1e9) return `${sign}${nanoseconds / 1e6}ms`;
  const hours = Math.floor(nanoseconds / 3_600e9);
  const minutes = Math.floor((nanoseconds % 3_600e9) / 60e9);
  // Few nanoseconds are written out: JavaScript's own form of them is 4e-7.
  const seconds = `${((nanoseconds % 60e9) / 1e9).toFixed(9).replace(/\.?0+$/, "")}s`;
  if (hours > 0) return `${sign}${hours}h${minutes}m${seconds}`;
  return minutes > 0 ? `${sign}${minutes}m${seconds}` : `${sign}${seconds}`;
}
