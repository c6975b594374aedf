/** An instant with nanoseconds, in which runtimes write the times of lines. */
export interface LogTime {
  /** Since the epoch. */
  readonly seconds: number;
  readonly nanoseconds: number;
}

const RFC_3339 = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:[.,](\d+))?(Z|[+-]\d\d:\d\d)$/;

/** Parses a time in RFC 3339 with any fraction; undefined for anything else. */
export function parseLogTime(text: string): LogTime | undefined {
  const parts = RFC_3339.exec(text);
  if (parts === null) return undefined;
  const [, wholeSeconds = "", fraction = "", zone = ""] = parts;
  const ms = Date.parse(wholeSeconds + zone);
  if (Number.isNaN(ms)) return undefined;
  return { seconds: ms / 1_000, nanoseconds: Number(nineDigits(fraction)) };
}

/** The same instant with nine digits behind the point, as upstream prints it (`RFC3339NanoFixed`). */
export function formatFixed(text: string): string {
  const parts = RFC_3339.exec(text);
  if (parts === null) return text;
  const [, wholeSeconds = "", fraction = "", zone = ""] = parts;
  return `${wholeSeconds}.${nineDigits(fraction)}${zone === "+00:00" ? "Z" : zone}`;
}

/** Converts milliseconds since the epoch. */
export function logTimeOf(ms: number): LogTime {
  const seconds = Math.floor(ms / 1_000);
  return { seconds, nanoseconds: Math.round((ms - seconds * 1_000) * 1_000_000) };
}

/** Whether the first instant is earlier than the second. */
export function isBefore(one: LogTime, other: LogTime): boolean {
  return one.seconds < other.seconds || (one.seconds === other.seconds && one.nanoseconds < other.nanoseconds);
}

const nineDigits = (fraction: string) => fraction.slice(0, 9).padEnd(9, "0");
