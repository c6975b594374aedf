interface CronField {
  readonly min: number;
  readonly max: number;
  readonly names: readonly string[];
}

const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const WEEKDAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

/** The fields of a schedule: minute, hour, day of the month, month, day of the week. */
const FIELDS: readonly CronField[] = [
  { min: 0, max: 59, names: [] },
  { min: 0, max: 23, names: [] },
  { min: 1, max: 31, names: [] },
  { min: 1, max: 12, names: MONTHS },
  { min: 0, max: 6, names: WEEKDAYS },
];
/** Names of schedules, with the fields that they stand for. */
const DESCRIPTORS: Readonly<Record<string, string>> = {
  "@yearly": "0 0 1 1 *",
  "@annually": "0 0 1 1 *",
  "@monthly": "0 0 1 * *",
  "@weekly": "0 0 * * 0",
  "@daily": "0 0 * * *",
  "@midnight": "0 0 * * *",
  "@hourly": "0 * * * *",
};
const GO_DURATION =
  /^[+-]?(\d+(\.\d*)?|\.\d+)(ns|us|\u00b5s|\u03bcs|ms|s|m|h)((\d+(\.\d*)?|\.\d+)(ns|us|\u00b5s|\u03bcs|ms|s|m|h))*$/;

/** Every minute, hour, day, month and weekday by itself makes less than 400 characters. */
const MAX_LENGTH = 1_000;

/** The problems of a cron job's schedule, in the words of upstream's parser; empty for a valid one. */
export function checkCronSchedule(schedule: string): string[] {
  if (schedule.length > MAX_LENGTH) return [`must be no more than ${MAX_LENGTH} characters`];
  const text = schedule.replace(/^(CRON_)?TZ=\S* */, "").trim();
  if (text === "") return ["empty spec string"];
  if (text.startsWith("@")) return checkDescriptor(text);
  const fields = text.split(/\s+/);
  if (fields.length !== FIELDS.length) {
    return [`expected exactly ${FIELDS.length} fields, found ${fields.length}: [${fields.join(" ")}]`];
  }
  for (const [index, field] of FIELDS.entries()) {
    for (const range of (fields[index] ?? "").split(",").filter(Boolean)) {
      const problem = checkRange(range, field);
      if (problem !== undefined) return [problem];
    }
  }
  return [];
}

function checkDescriptor(text: string): string[] {
  if (Object.hasOwn(DESCRIPTORS, text)) return [];
  const [, duration] = /^@every (.*)$/.exec(text) ?? [];
  if (duration === undefined) return [`unrecognized descriptor: ${text}`];
  if (GO_DURATION.test(duration)) return [];
  return [`failed to parse duration ${text}: time: invalid duration "${duration}"`];
}

/** The values at which each field of a schedule matches, in order. */
export interface CronFields {
  readonly minutes: readonly number[];
  readonly hours: readonly number[];
  readonly days: ReadonlySet<number>;
  readonly months: ReadonlySet<number>;
  readonly weekdays: ReadonlySet<number>;
  /** True where one of the two says nothing about the day, so that the other decides; else each of them is enough. */
  readonly bothDays: boolean;
}

/** A schedule by times of the day, or one that begins again after a duration in Go's syntax. */
type CronSchedule = { readonly fields: CronFields } | { readonly every: string };

/** Reads a schedule; undefined for one that `checkCronSchedule` has something against. */
export function parseCronSchedule(schedule: string): CronSchedule | undefined {
  if (checkCronSchedule(schedule).length > 0) return undefined;
  const text = schedule.trim();
  const [, every] = /^@every (.*)$/.exec(text) ?? [];
  if (every !== undefined) return { every };
  const parts = (DESCRIPTORS[text] ?? text).split(/\s+/);
  const [minutes = [], hours = [], days = [], months = [], weekdays = []] = FIELDS.map((field, index) => {
    return expandField(parts[index] ?? "", field);
  });
  const bothDays = [parts[2] ?? "", parts[4] ?? ""].some(isStar);
  const sets = { days: new Set(days), months: new Set(months), weekdays: new Set(weekdays) };
  return { fields: { minutes, hours, ...sets, bothDays } };
}

/** True for a field that matches whatever the day is. A star with a step chooses, and is none. */
function isStar(field: string): boolean {
  return field.split(",").some((range) => /^[*?](-.*)?(\/0*1)?$/.test(range));
}

/** All values of a valid field, in order. */
function expandField(text: string, field: CronField): number[] {
  const values = new Set<number>();
  for (const range of text.split(",").filter(Boolean)) {
    const [bounds = "", step] = range.split("/");
    const [low = "", high] = bounds.split("-");
    const isAll = low === "*" || low === "?";
    const start = isAll ? field.min : (readNumber(low, field) ?? field.min);
    const alone = step === undefined ? start : field.max;
    const end = isAll ? field.max : high === undefined ? alone : (readNumber(high, field) ?? start);
    for (let value = start; value <= end; value += Number(step ?? 1)) values.add(value);
  }
  return [...values].sort((a, b) => a - b);
}

/** The problem of a number, a name, a range of them or a star, perhaps with a step; undefined when there is none. */
function checkRange(text: string, field: CronField): string | undefined {
  const [bounds = "", step, ...tooMany] = text.split("/");
  if (tooMany.length > 0) return `too many slashes: ${text}`;
  const [low = "", high, ...more] = bounds.split("-");
  if (more.length > 0) return `too many hyphens: ${text}`;
  if (step !== undefined && !/^\d+$/.test(step)) return notANumber(step);
  if (step !== undefined && Number(step) === 0) return `step of range should be a positive number: ${text}`;
  if (low === "*" || low === "?") return undefined;
  const start = readNumber(low, field);
  // With a step, a single number begins a range up to the field's maximum.
  const end = high === undefined ? (step === undefined ? start : field.max) : readNumber(high, field);
  if (start === undefined) return notANumber(low);
  if (end === undefined) return notANumber(high ?? "");
  if (start < field.min) return `beginning of range (${start}) below minimum (${field.min}): ${text}`;
  if (end > field.max) return `end of range (${end}) above maximum (${field.max}): ${text}`;
  return start > end ? `beginning of range (${start}) beyond end of range (${end}): ${text}` : undefined;
}

function readNumber(text: string, { names, min }: CronField): number | undefined {
  const named = names.indexOf(text.toLowerCase());
  if (named >= 0) return named + min;
  return /^\d+$/.test(text) ? Number(text) : undefined;
}

function notANumber(text: string): string {
  return `failed to parse int from ${text}: strconv.Atoi: parsing "${text}": invalid syntax`;
}
