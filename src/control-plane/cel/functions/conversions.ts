import { doubleArg, intArg, type Overload, objectArg, plain, stringArg, traversal } from "../overload.ts";
import type { CelType } from "../types.ts";
import * as types from "../types.ts";
import { type CelValue, celBytes, failure } from "../values.ts";
import { toInt, toUint } from "./operators.ts";
import { durationNanos, durationText, formatTimestamp, parseTimestamp, toDuration, toTimestamp } from "./time-text.ts";

const { BOOL, BYTES, DOUBLE, DURATION, INT, STRING, TIMESTAMP, UINT } = types;

const uintArg = (value: CelValue | undefined) => objectArg("uint", value).value;

const IDENTITIES: ReadonlyArray<readonly [string, CelType]> = [
  ["int", INT],
  ["uint", UINT],
  ["double", DOUBLE],
  ["string", STRING],
  ["bool", BOOL],
  ["bytes", BYTES],
  ["duration", DURATION],
  ["timestamp", TIMESTAMP],
];

const NUMBERS = [
  plain("int", [[UINT], INT], ([a]) => toInt(uintArg(a))),
  plain("int", [[DOUBLE], INT], ([a]) => wholeOf(doubleArg(a), -(2 ** 63))),
  plain("int", [[STRING], INT], ([a]) => parseWhole(stringArg(a), /^[+-]?\d{1,20}$/, toInt)),
  plain("int", [[TIMESTAMP], INT], ([a]) => objectArg("timestamp", a).nanos / 1_000_000_000n),
  plain("int", [[DURATION], INT], ([a]) => objectArg("duration", a).nanos),
  plain("uint", [[INT], UINT], ([a]) => toUint(intArg(a))),
  plain("uint", [[DOUBLE], UINT], ([a]) => {
    const value = doubleArg(a);
    const isOutside = Number.isNaN(value) || value < 0 || value >= 2 ** 64;
    return isOutside ? failure("unsigned integer overflow") : toUint(BigInt(Math.trunc(value)));
  }),
  plain("uint", [[STRING], UINT], ([a]) => parseWhole(stringArg(a), /^\d{1,20}$/, toUint)),
  plain("double", [[INT], DOUBLE], ([a]) => Number(intArg(a))),
  plain("double", [[UINT], DOUBLE], ([a]) => Number(uintArg(a))),
  plain("double", [[STRING], DOUBLE], ([a]) => parseDouble(stringArg(a))),
];

function wholeOf(value: number, min: number): CelValue {
  const isOutside = Number.isNaN(value) || value <= min || value >= -min;
  return isOutside ? failure("integer overflow") : toInt(BigInt(Math.trunc(value)));
}

function parseWhole(text: string, pattern: RegExp, convert: (value: bigint) => CelValue): CelValue {
  if (!pattern.test(text)) return failure("type conversion error from 'string' to 'int'");
  return convert(BigInt(text.replace(/^\+/, "")));
}

function parseDouble(text: string): CelValue {
  const special = { inf: Number.POSITIVE_INFINITY, infinity: Number.POSITIVE_INFINITY, nan: Number.NaN };
  const found = Object.entries(special).find(([name]) => name === text.replace(/^[+-]/, "").toLowerCase());
  if (found) return text.startsWith("-") ? -found[1] : found[1];
  const isNumber = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/.test(text);
  return isNumber ? Number(text) : failure(`strconv.ParseFloat: parsing ${JSON.stringify(text)}: invalid syntax`);
}

const TRUE = new Set(["1", "t", "T", "true", "TRUE", "True"]);
const FALSE = new Set(["0", "f", "F", "false", "FALSE", "False"]);

function parseBool(text: string): CelValue {
  if (TRUE.has(text)) return true;
  return FALSE.has(text) ? false : failure("type conversion error from 'string' to 'bool'");
}

/** A double as Go's `%v` writes it: with an exponent below 1e-4 and from 1e21. */
export function formatDouble(value: number): string {
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "+Inf" : "-Inf";
  if (Object.is(value, -0)) return "-0";
  const size = Math.abs(value);
  const text = size !== 0 && size < 1e-4 ? value.toExponential() : String(value);
  return text.replace(/e([+-])(\d)$/, "e$10$2");
}

const STRINGS = [
  plain("string", [[BOOL], STRING], ([a]) => String(a)),
  plain("string", [[INT], STRING], ([a]) => String(intArg(a))),
  plain("string", [[UINT], STRING], ([a]) => String(uintArg(a))),
  plain("string", [[DOUBLE], STRING], ([a]) => formatDouble(doubleArg(a))),
  plain("string", [[BYTES], STRING], ([a]) => decode(objectArg("bytes", a).bytes), traversal),
  plain("string", [[TIMESTAMP], STRING], ([a]) => formatTimestamp(objectArg("timestamp", a).nanos)),
  plain("string", [[DURATION], STRING], ([a]) => durationText(objectArg("duration", a).nanos)),
  plain("bytes", [[STRING], BYTES], ([a]) => celBytes(new TextEncoder().encode(stringArg(a))), traversal),
  plain("bool", [[STRING], BOOL], ([a]) => parseBool(stringArg(a))),
];

function decode(bytes: Uint8Array): CelValue {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return failure("invalid UTF-8 in bytes, cannot convert to string");
  }
}

const TIMES = [
  plain("timestamp", [[STRING], TIMESTAMP], ([a]) => {
    const nanos = parseTimestamp(stringArg(a));
    return nanos === undefined
      ? failure("type conversion error from 'string' to 'google.protobuf.Timestamp'")
      : toTimestamp(nanos);
  }),
  plain("timestamp", [[INT], TIMESTAMP], ([a]) => toTimestamp(intArg(a) * 1_000_000_000n)),
  plain("duration", [[STRING], DURATION], ([a]) => {
    const nanos = durationNanos(stringArg(a));
    return nanos === undefined
      ? failure("type conversion error from 'string' to 'google.protobuf.Duration'")
      : toDuration(nanos);
  }),
  plain("duration", [[INT], DURATION], ([a]) => toDuration(intArg(a))),
];

/** The functions named as types, which convert. */
export const CONVERSIONS: readonly Overload[] = [
  ...IDENTITIES.map(([name, type]) => plain(name, [[type], type], ([a = null]) => a)),
  ...NUMBERS,
  ...STRINGS,
  ...TIMES,
];
