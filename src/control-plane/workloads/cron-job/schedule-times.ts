import { type CronFields, parseCronSchedule } from "../../../api/cron/cron-schedule.ts";
import { MINUTE, SECOND } from "../../../base/clock.ts";
import { parseDuration } from "../../../config/duration.ts";
import type { LocalTime, ZoneClock } from "./zone-clock.ts";

/** Tells when a schedule is due. All times are milliseconds since the epoch. */
export interface ScheduleTimes {
  /** The first time after this one; undefined for a schedule that is never due, such as the 31st of February. */
  next(after: number): number | undefined;
}

const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** A schedule that is not due for so long is never due. */
const MAX_YEARS = 5;

/**
 * The times of a cron job's schedule in its zone; undefined for a schedule that cannot be read. As with
 * upstream's library, what is due in an hour that the zone skips is not due that day, and what is due in an hour that
 * the zone repeats is due twice.
 */
export function scheduleTimesOf(schedule: string, zone: ZoneClock): ScheduleTimes | undefined {
  const parsed = parseCronSchedule(schedule);
  if (parsed === undefined) return undefined;
  if ("every" in parsed) {
    const seconds = Math.floor((parseDuration(parsed.every) ?? 0) / SECOND);
    const step = Math.max(1, seconds) * SECOND;
    return { next: (after) => Math.floor(after / SECOND) * SECOND + step };
  }
  return { next: (after) => nextTime(parsed.fields, zone, after) };
}

function nextTime(fields: CronFields, zone: ZoneClock, after: number): number | undefined {
  let time = (Math.floor(after / MINUTE) + 1) * MINUTE;
  const lastYear = zone.localTimeOf(time).year + MAX_YEARS;
  for (;;) {
    const local = zone.localTimeOf(time);
    if (local.year > lastYear) return undefined;
    const later = laterTime(fields, zone, { time, local });
    if (later === undefined) return time;
    // A zone that sets its clocks back at midnight must not lead back.
    time = Math.max(later, time + MINUTE);
  }
}

/** The next time that may fit, when this one does not; undefined when it does. */
function laterTime(
  { minutes, hours, months, ...days }: CronFields,
  zone: ZoneClock,
  { time, local }: { time: number; local: LocalTime },
): number | undefined {
  const { year, month, day, hour, minute } = local;
  if (!months.has(month)) return zone.timeOf(Date.UTC(year, month, 1));
  if (!fitsDay(days, local)) return zone.timeOf(Date.UTC(year, month - 1, day) + DAY);
  if (!hours.includes(hour)) return time + HOUR - minute * MINUTE;
  const next = minutes.find((wanted) => wanted >= minute);
  if (next === undefined) return time + HOUR - minute * MINUTE;
  return next === minute ? undefined : time + (next - minute) * MINUTE;
}

function fitsDay(
  { days, weekdays, bothDays }: Pick<CronFields, "days" | "weekdays" | "bothDays">,
  { day, weekday }: LocalTime,
): boolean {
  const [byDay, byWeekday] = [days.has(day), weekdays.has(weekday)];
  return bothDays ? byDay && byWeekday : byDay || byWeekday;
}
