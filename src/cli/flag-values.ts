import { InvalidArgumentError } from "commander";
import { parseDuration } from "../config/duration.ts";

/** The longest delay of a timer, 24 days; a longer grace period is none. */
const MAX_DURATION_MS = 2 ** 31 - 1;

/** A length of time in milliseconds, more than none. */
export function readDuration(text: string): number {
  const ms = parseDuration(text);
  if (ms !== undefined && ms > 0 && ms <= MAX_DURATION_MS) return ms;
  throw new InvalidArgumentError("It must be a duration such as 50s or 1m30s, of at most 24 days.");
}

/** A number that is not negative. */
export function readAmount(text: string): number {
  const value = Number(text);
  if (/^\d+(\.\d+)?$/.test(text) && value <= 1_000_000) return value;
  throw new InvalidArgumentError("It must be a number such as 0.1, not negative and at most 1000000.");
}

/** A part of a whole. */
export function readUnitShare(text: string): number {
  const value = readAmount(text);
  if (value <= 1) return value;
  throw new InvalidArgumentError("It must be a number from 0 to 1.");
}
