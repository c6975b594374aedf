import { describe, expect, test } from "vitest";
import { scheduleTimesOf } from "./schedule-times.ts";
import { createZoneClock } from "./zone-clock.ts";

function timesIn(schedule: string, name: string) {
  const zone = createZoneClock(name);
  return zone && scheduleTimesOf(schedule, zone);
}

function timesOf(schedule: string, { after = "2026-01-01T00:00:00Z", count = 3, zone = "UTC" } = {}): string[] {
  const times = timesIn(schedule, zone);
  const found: string[] = [];
  for (
    let time = times?.next(Date.parse(after));
    time !== undefined && found.length < count;
    time = times?.next(time)
  ) {
    found.push(new Date(time).toISOString().slice(0, 16));
  }
  return found;
}

describe("a schedule is due", () => {
  test.each<[string, string[]]>([
    ["* * * * *", ["2026-01-01T00:01", "2026-01-01T00:02", "2026-01-01T00:03"]],
    ["*/20 9-10 * * *", ["2026-01-01T09:00", "2026-01-01T09:20", "2026-01-01T09:40"]],
    ["5/25 0 * * *", ["2026-01-01T00:05", "2026-01-01T00:30", "2026-01-01T00:55"]],
    ["0 0 31 * *", ["2026-01-31T00:00", "2026-03-31T00:00", "2026-05-31T00:00"]],
    ["0 12 29 feb ?", ["2028-02-29T12:00"]],
    ["0 0 31 2 *", []],
    // Both days are said: either is enough.
    ["0 0 13 * fri", ["2026-01-02T00:00", "2026-01-09T00:00", "2026-01-13T00:00"]],
    // A star that chooses is no star.
    ["0 0 */15 * mon", ["2026-01-05T00:00", "2026-01-12T00:00", "2026-01-16T00:00"]],
    ["0 0 */1 * mon", ["2026-01-05T00:00", "2026-01-12T00:00", "2026-01-19T00:00"]],
    ["@hourly", ["2026-01-01T01:00", "2026-01-01T02:00", "2026-01-01T03:00"]],
    ["@weekly", ["2026-01-04T00:00", "2026-01-11T00:00", "2026-01-18T00:00"]],
    ["@yearly", ["2027-01-01T00:00", "2028-01-01T00:00", "2029-01-01T00:00"]],
    ["@every 1h30m", ["2026-01-01T01:30", "2026-01-01T03:00", "2026-01-01T04:30"]],
    ["every day", []],
  ])("%s", (schedule, times) => {
    expect(timesOf(schedule, { count: times.length === 1 ? 1 : 3 })).toEqual(times);
  });

  test("no more than once a second", () => {
    expect(timesIn("@every 1ms", "UTC")?.next(5_300)).toBe(6_000);
  });

  test.each<[string, string, string, string[]]>([
    ["by the clocks of its zone", "30 1 * * *", "2026-06-01T00:00:00Z", ["2026-06-01T23:30", "2026-06-02T23:30"]],
    // At 2:00 on 29 March clocks are set to 3:00.
    ["not in an hour that is skipped", "30 2 * * *", "2026-03-28T00:00:00Z", ["2026-03-28T01:30", "2026-03-30T00:30"]],
    // At 3:00 on 25 October clocks are set back to 2:00.
    [
      "twice in an hour that comes twice",
      "30 2 * * *",
      "2026-10-24T12:00:00Z",
      ["2026-10-25T00:30", "2026-10-25T01:30"],
    ],
    ["at midnight after a change", "0 0 * * *", "2026-03-29T00:00:00Z", ["2026-03-29T22:00", "2026-03-30T22:00"]],
  ])("%s", (_case, schedule, after, times) => {
    expect(timesOf(schedule, { after, count: 2, zone: "Europe/Vienna" })).toEqual(times);
  });

  test("on a day whose midnight is skipped", () => {
    // At midnight on 8 March clocks in Havana are set to 1:00.
    const options = { after: "2026-03-07T12:00:00Z", count: 2, zone: "America/Havana" };
    expect(timesOf("30 1 8 * *", options)).toEqual(["2026-03-08T05:30", "2026-04-08T05:30"]);
  });
});
