import { type CelValue, failure } from "../values.ts";

const UNITS: Readonly<Record<string, bigint>> = {
  h: 3_600_000_000_000n,
  m: 60_000_000_000n,
  s: 1_000_000_000n,
  ms: 1_000_000n,
  us: 1_000n,
  µs: 1_000n,
  μs: 1_000n,
  ns: 1n,
};
/** What a duration may have in Go, and a timestamp in CEL: the years 1 to 9999. */
const MAX_DURATION = 2n ** 63n - 1n;
const MIN_TIMESTAMP = -62_135_596_800_000_000_000n;
const MAX_TIMESTAMP = 253_402_300_799_999_999_999n;

/** The duration of so many nanoseconds, or the error when it is too long. */
export function toDuration(nanos: bigint): CelValue {
  const isTooLong = nanos > MAX_DURATION || nanos < -MAX_DURATION - 1n;
  return isTooLong ? failure("integer overflow") : { kind: "duration", nanos };
}

/** The time so many nanoseconds after 1970, or the error when CEL has no such time. */
export function toTimestamp(nanos: bigint): CelValue {
  const isOutside = nanos < MIN_TIMESTAMP || nanos > MAX_TIMESTAMP;
  return isOutside ? failure("timestamp overflow") : { kind: "timestamp", nanos };
}

/** `1h30m`, as Go writes durations; undefined for any other text. */
export function durationNanos(text: string): bigint | undefined {
  if (text.length > 100) return undefined;
  const [, sign = "", rest = ""] = /^([+-]?)(.*)$/.exec(text) ?? [];
  if (rest === "0") return 0n;
  if (!/^(?:(?:\d+\.?\d*|\.\d+)(?:h|ms|m|s|us|\u00b5s|\u03bcs|ns))+$/.test(rest)) return undefined;
  let nanos = 0n;
  for (const [, whole = "", fraction = "", unit = ""] of rest.matchAll(
    /(\d*)\.?(\d*)(h|ms|m|s|us|\u00b5s|\u03bcs|ns)/g,
  )) {
    const size = UNITS[unit] ?? 0n;
    nanos += BigInt(whole || "0") * size;
    if (fraction !== "") nanos += (BigInt(fraction) * size) / 10n ** BigInt(fraction.length);
  }
  if (nanos > MAX_DURATION) return undefined;
  return sign === "-" ? -nanos : nanos;
}

const RFC3339 = /^(\d{4}-\d\d-\d\d)[Tt](\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?([Zz]|[+-]\d\d:\d\d)$/;

/** A time in RFC 3339, in nanoseconds since 1970; undefined for any other text. */
export function parseTimestamp(text: string): bigint | undefined {
  const [, date = "", time = "", fraction = "", zone = ""] = RFC3339.exec(text) ?? [];
  if (date === "") return undefined;
  const ms = Date.parse(`${date}T${time}${zone.toUpperCase()}`);
  if (Number.isNaN(ms) || !isCalendarDate(date)) return undefined;
  return BigInt(ms) * 1_000_000n + BigInt(fraction.padEnd(9, "0"));
}

/** A date of the calendar, at midnight in UTC, in nanoseconds since 1970. */
export function parseDate(text: string): bigint | undefined {
  if (!/^\d{4}-\d\d-\d\d$/.test(text) || !isCalendarDate(text)) return undefined;
  return BigInt(Date.parse(`${text}T00:00:00Z`)) * 1_000_000n;
}

function isCalendarDate(date: string): boolean {
  const ms = Date.parse(`${date}T00:00:00Z`);
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(date);
}

/** The time in RFC 3339, with as many digits of the second as it has. */
export function formatTimestamp(nanos: bigint): string {
  const second = floorDivide(nanos, 1_000_000_000n);
  const rest = nanos - second * 1_000_000_000n;
  const text = new Date(Number(second) * 1000).toISOString().replace(/\.\d+Z$/, "");
  const fraction = rest === 0n ? "" : `.${String(rest).padStart(9, "0").replace(/0+$/, "")}`;
  return `${text}${fraction}Z`;
}

/** The duration in seconds, as protocol buffers write it: `90s`, `0.5s`. */
export function durationText(nanos: bigint): string {
  const size = nanos < 0n ? -nanos : nanos;
  const rest = size % 1_000_000_000n;
  const fraction = rest === 0n ? "" : `.${String(rest).padStart(9, "0").replace(/0+$/, "")}`;
  return `${nanos < 0n ? "-" : ""}${size / 1_000_000_000n}${fraction}s`;
}

/** Rounded down, also below zero. */
export function floorDivide(value: bigint, divisor: bigint): bigint {
  const quotient = value / divisor;
  return value % divisor < 0n ? quotient - 1n : quotient;
}
