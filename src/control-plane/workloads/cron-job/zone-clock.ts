import { MINUTE, SECOND } from "../../../base/clock.ts";

/** What the clocks on the wall show. */
export interface LocalTime {
  readonly year: number;
  /** From 1. */
  readonly month: number;
  readonly day: number;
  /** 0 for Sunday. */
  readonly weekday: number;
  readonly hour: number;
  readonly minute: number;
}

/** A time zone. */
export interface ZoneClock {
  /** What clocks show at this time, in milliseconds since the epoch. */
  localTimeOf(time: number): LocalTime;
  /**
   * When clocks show this, given as the milliseconds at which UTC would show it. Where they skip it, the time at which
   * they do.
   */
  timeOf(local: number): number;
  /** RFC 3339 with the zone's offset, as `2026-01-01T01:00:00+01:00`. */
  format(time: number): string;
}

/** The zone of this name; undefined for a name that this machine does not know. */
export function createZoneClock(timeZone: string): ZoneClock | undefined {
  const offsetAt = timeZone === "UTC" ? () => 0 : offsetsOf(timeZone);
  if (offsetAt === undefined) return undefined;
  return {
    localTimeOf(time) {
      const shown = new Date(time + offsetAt(time));
      return {
        year: shown.getUTCFullYear(),
        month: shown.getUTCMonth() + 1,
        day: shown.getUTCDate(),
        weekday: shown.getUTCDay(),
        hour: shown.getUTCHours(),
        minute: shown.getUTCMinutes(),
      };
    },
    timeOf(local) {
      const guess = local - offsetAt(local - offsetAt(local));
      const other = local - offsetAt(guess);
      return Math.max(guess, other);
    },
    format(time) {
      const offset = offsetAt(time);
      const shown = new Date(time + offset).toISOString().slice(0, 19);
      if (offset === 0) return `${shown}Z`;
      const minutes = Math.abs(offset) / MINUTE;
      const parts = [Math.floor(minutes / 60), minutes % 60].map((part) => `${Math.floor(part)}`.padStart(2, "0"));
      return `${shown}${offset < 0 ? "-" : "+"}${parts.join(":")}`;
    },
  };
}

function offsetsOf(timeZone: string): ((time: number) => number) | undefined {
  const format = formatOf(timeZone);
  if (format === undefined) return undefined;
  return (time) => {
    const parts = new Map(format.formatToParts(time).map(({ type, value }) => [type, Number(value)]));
    const read = (type: Intl.DateTimeFormatPartTypes) => parts.get(type) ?? 0;
    const [hour, minute, second] = [read("hour"), read("minute"), read("second")];
    const shown = Date.UTC(read("year"), read("month") - 1, read("day"), hour, minute, second);
    return shown - Math.floor(time / SECOND) * SECOND;
  };
}

function formatOf(timeZone: string): Intl.DateTimeFormat | undefined {
  const [year, month, day, hour, minute, second] = Array.from({ length: 6 }, () => "numeric" as const);
  try {
    return new Intl.DateTimeFormat("en-US", { timeZone, hourCycle: "h23", year, month, day, hour, minute, second });
  } catch {
    return undefined;
  }
}
