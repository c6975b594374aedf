import { LRUCache } from "lru-cache";
import type { CostBudget } from "../budget.ts";
import { member, type Overload, objectArg, plain, stringArg } from "../overload.ts";
import * as types from "../types.ts";
import { type CelValue, failure } from "../values.ts";
import { floorDivide, toDuration, toTimestamp } from "./time-text.ts";

const { TIMESTAMP, DURATION, INT, STRING } = types;
const time = (value: CelValue | undefined) => objectArg("timestamp", value).nanos;
const duration = (value: CelValue | undefined) => objectArg("duration", value).nanos;

const SUMS = [
  plain("_+_", [[TIMESTAMP, DURATION], TIMESTAMP], ([a, b]) => toTimestamp(time(a) + duration(b))),
  plain("_+_", [[DURATION, TIMESTAMP], TIMESTAMP], ([a, b]) => toTimestamp(duration(a) + time(b))),
  plain("_+_", [[DURATION, DURATION], DURATION], ([a, b]) => toDuration(duration(a) + duration(b))),
  plain("_-_", [[TIMESTAMP, DURATION], TIMESTAMP], ([a, b]) => toTimestamp(time(a) - duration(b))),
  plain("_-_", [[TIMESTAMP, TIMESTAMP], DURATION], ([a, b]) => toDuration(time(a) - time(b))),
  plain("_-_", [[DURATION, DURATION], DURATION], ([a, b]) => toDuration(duration(a) - duration(b))),
];

const DAY_MS = 86_400_000;

/** The parts of a time, in UTC. */
const PARTS: Readonly<Record<string, (date: Date) => number>> = {
  getFullYear: (date) => date.getUTCFullYear(),
  getMonth: (date) => date.getUTCMonth(),
  getDate: (date) => date.getUTCDate(),
  getDayOfMonth: (date) => date.getUTCDate() - 1,
  getDayOfWeek: (date) => date.getUTCDay(),
  getDayOfYear: (date) => Math.floor((date.getTime() - Date.UTC(date.getUTCFullYear(), 0, 1)) / DAY_MS),
  getHours: (date) => date.getUTCHours(),
  getMinutes: (date) => date.getUTCMinutes(),
  getSeconds: (date) => date.getUTCSeconds(),
  getMilliseconds: (date) => date.getUTCMilliseconds(),
};

const milliseconds = (nanos: bigint) => Number(floorDivide(nanos, 1_000_000n));

const TIME_PARTS = Object.entries(PARTS).flatMap(([name, part]) => [
  member(name, [[TIMESTAMP], INT], ([a]) => BigInt(part(new Date(milliseconds(time(a)))))),
  member(name, [[TIMESTAMP, STRING], INT], ([a, zone], budget) => {
    const offset = zoneOffset(stringArg(zone), milliseconds(time(a)), budget);
    if (offset === undefined) return failure(`unknown time zone ${stringArg(zone)}`);
    return BigInt(part(new Date(milliseconds(time(a)) + offset)));
  }),
]);

/** How far a zone is ahead of UTC at a time, in milliseconds: `+02:00`, `Europe/Berlin`. */
function zoneOffset(zone: string, at: number, budget: CostBudget): number | undefined {
  if (zone === "" || zone === "UTC") return 0;
  const [, sign, hours, minutes] = /^([+-]?)(\d\d):(\d\d)$/.exec(zone) ?? [];
  if (hours !== undefined) return (sign === "-" ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * 60_000;
  try {
    const parts = zoneFormat(zone, budget).formatToParts(at);
    const shown = parts.find(({ type }) => type === "timeZoneName")?.value ?? "GMT";
    return shown === "GMT" ? 0 : zoneOffset(shown.slice("GMT".length, "GMT+00:00".length), at, budget);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

const zoneFormats = new LRUCache<string, Intl.DateTimeFormat>({ max: 100 });
/** What it takes to write a time in a zone, and to learn a zone, which is slow. */
const ZONE_STEPS = 500;
const NEW_ZONE_STEPS = 50_000;

function zoneFormat(zone: string, budget: CostBudget): Intl.DateTimeFormat {
  budget.work(ZONE_STEPS);
  const known = zoneFormats.get(zone);
  if (known) return known;
  budget.work(NEW_ZONE_STEPS);
  const format = new Intl.DateTimeFormat("en-US", { timeZone: zone, timeZoneName: "longOffset" });
  zoneFormats.set(zone, format);
  return format;
}

const TOTALS: Readonly<Record<string, bigint>> = {
  getHours: 3_600_000_000_000n,
  getMinutes: 60_000_000_000n,
  getSeconds: 1_000_000_000n,
};

const DURATION_PARTS = [
  ...Object.entries(TOTALS).map(([name, unit]) => member(name, [[DURATION], INT], ([a]) => duration(a) / unit)),
  member("getMilliseconds", [[DURATION], INT], ([a]) => (duration(a) / 1_000_000n) % 1000n),
];

/** What times and durations can do. */
export const TIME_OPERATORS: readonly Overload[] = [...SUMS, ...TIME_PARTS, ...DURATION_PARTS];
