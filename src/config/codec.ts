import { isRecord } from "../api/object.ts";
import { parseDuration } from "./duration.ts";

/**
 * Decodes a part of a configuration file from `unknown` to its type, and reports problems with their path. Shapes are
 * tables of fields, so that types, defaults, help and notices all come from one place.
 */
interface Codec<T> {
  /** The type as Go names it, for messages and for choosing a flag's syntax. */
  readonly typeName: string;
  /** The shape of an object's fields; undefined for everything else. */
  readonly fields?: FieldTable;
  /** Returns undefined after it reported an error. `path` is the place of the value, e.g. `authentication.x509`. */
  decode(value: unknown, path: string, report: DecodeReport): T | undefined;
}

export interface DecodeReport {
  errors: ConfigurationError[];
  /** Paths of unknown fields: strict decoding fails on them, lenient decoding leaves them out. */
  unknownFields: string[];
}

/** A problem of the configuration, and its place: a field's path, a flag, or a file. */
export interface ConfigurationError {
  path: string;
  message: string;
}

/**
 * The effect of a field or flag. `works`: it works. `ignored`: it has none, as in the Go kubelet or because the thing
 * that it tunes does not exist here.
 */
export type Effect = "works" | "ignored";

interface Field<T> {
  readonly codec: Codec<T>;
  /** The value where the file gives none. */
  readonly initial: T;
  /** An explicit zero or empty string counts as "not given", as for fields that are no pointers in Go. */
  readonly zeroIsUnset: boolean;
  readonly effect: Effect;
  /** The Kubernetes version that brought the field, for fields that are newer than 1.25. */
  readonly since?: string;
}

export type FieldTable = Readonly<Record<string, Field<unknown>>>;

export type FieldValues<T extends FieldTable> = {
  readonly [K in keyof T]: T[K] extends Field<infer V> ? V : never;
};

/** A field where zero means the default. */
export function value<T>(codec: Codec<T>, initial: NoInfer<T>, effect: Effect, since?: string): Field<T> {
  return { codec, initial, zeroIsUnset: true, effect, ...(since === undefined ? {} : { since }) };
}

/** A field where zero is a value like any other, and only its absence means the default. */
export function pointer<T>(codec: Codec<T>, initial: NoInfer<T>, effect: Effect, since?: string): Field<T> {
  return { codec, initial, zeroIsUnset: false, effect, ...(since === undefined ? {} : { since }) };
}

/** A field without a default. */
export function optional<T>(codec: Codec<T>, effect: Effect, since?: string): Field<T | undefined> {
  return { codec, initial: undefined, zeroIsUnset: false, effect, ...(since === undefined ? {} : { since }) };
}

/** An object whose own fields have defaults, so that it is never absent. */
export function nested<T extends FieldTable>(fields: T, effect: Effect, since?: string): Field<FieldValues<T>> {
  return value(objectOf(fields), defaultsOf(fields), effect, since);
}

/** Decodes an object by its table and fills in defaults. An absent object is an empty one. */
export function decodeFields<T extends FieldTable>(
  table: T,
  raw: unknown,
  path: string,
  report: DecodeReport,
): FieldValues<T> | undefined {
  if (!isRecord(raw ?? {})) return refuse(report, path, "object", raw);
  const given = new Map(Object.entries(raw ?? {}));
  for (const name of given.keys()) if (!Object.hasOwn(table, name)) report.unknownFields.push(joinPath(path, name));
  const values = Object.fromEntries(
    Object.entries(table).map(([name, field]) => [
      name,
      decodeField(field, given.get(name), joinPath(path, name), report),
    ]),
  );
  return holdsFields(values, table) ? values : undefined;
}

function decodeField(field: Field<unknown>, raw: unknown, path: string, report: DecodeReport): unknown {
  // Go's JSON treats null as "not given". An absent object still has defaults inside, unless it is optional.
  if (raw === undefined || raw === null) {
    return field.codec.fields && field.initial !== undefined ? field.codec.decode({}, path, report) : field.initial;
  }
  const decoded = field.codec.decode(raw, path, report);
  const isUnset = decoded === undefined || (field.zeroIsUnset && (decoded === 0 || decoded === ""));
  return isUnset ? field.initial : decoded;
}

/** Every value was decoded by its own codec, so a full set of names implies the type. */
function holdsFields<T extends FieldTable>(values: unknown, table: T): values is FieldValues<T> {
  return isRecord(values) && Object.keys(table).every((name) => Object.hasOwn(values, name));
}

function simple<T>(typeName: string, convert: (value: unknown) => T | undefined): Codec<T> {
  return {
    typeName,
    decode: (value, path, report) => convert(value) ?? refuse(report, path, typeName, value),
  };
}

function refuse(report: DecodeReport, path: string, typeName: string, value: unknown): undefined {
  report.errors.push({ path, message: `must be of type ${typeName}, not ${describe(value)}` });
  return undefined;
}

/** The value must be a number in the file, so that `"5"` and `5.5` are refused where Go refuses them. */
function isInteger(value: unknown, limit: number): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= -limit && value < limit;
}

export const bool = simple("bool", (value) => (typeof value === "boolean" ? value : undefined));
export const int32 = simple("int32", (value) => (isInteger(value, 2 ** 31) ? value : undefined));
/** Beyond 2^53 a number is refused rather than rounded; no field needs more. */
export const int64 = simple("int64", (value) => (isInteger(value, 2 ** 63) ? value : undefined));
export const float64 = simple("float64", (value) => (typeof value === "number" ? value : undefined));
export const text = simple("string", (value) => (typeof value === "string" ? value : undefined));
/** A duration in Go's syntax; its value is in milliseconds. */
export const duration = simple("duration", (value) => (typeof value === "string" ? parseDuration(value) : undefined));
/** A duration or a count of nanoseconds, as `logging.flushFrequency` takes both; its value is in milliseconds. */
export const durationOrNanoseconds = simple("duration", (value) =>
  typeof value === "string" ? parseDuration(value) : isInteger(value, 2 ** 63) ? value / 1e6 : undefined,
);
/** A quantity as text; validation checks that it is one. */
export const quantityText = simple("quantity", (value) =>
  typeof value === "string" ? value : typeof value === "number" ? String(value) : undefined,
);

/** A list of values of one codec; a value that is wrong is reported and left out. */
export function listOf<T>(item: Codec<T>): Codec<readonly T[]> {
  const typeName = `[]${item.typeName}`;
  return {
    typeName,
    decode(value, path, report) {
      if (!Array.isArray(value)) return refuse(report, path, typeName, value);
      const items: T[] = [];
      for (const [index, entry] of value.entries()) {
        const decoded = item.decode(entry, `${path}[${index}]`, report);
        if (decoded !== undefined) items.push(decoded);
      }
      return items;
    },
  };
}

/** A map of values of one codec by any key; a value that is wrong is reported and left out. */
export function mapOf<T>(item: Codec<T>): Codec<Readonly<Record<string, T>>> {
  const typeName = `map[string]${item.typeName}`;
  return {
    typeName,
    decode(value, path, report) {
      if (!isRecord(value)) return refuse(report, path, typeName, value);
      const entries: Array<[string, T]> = [];
      for (const [key, entry] of Object.entries(value)) {
        const decoded = item.decode(entry, `${path}[${key}]`, report);
        if (decoded !== undefined) entries.push([key, decoded]);
      }
      return Object.fromEntries(entries);
    },
  };
}

/** An object with exactly these fields. */
export function objectOf<T extends FieldTable>(fields: T): Codec<FieldValues<T>> {
  return {
    typeName: "object",
    fields,
    decode: (value, path, report) => decodeFields(fields, value, path, report),
  };
}

/** The values of a table when nothing is given. */
export function defaultsOf<T extends FieldTable>(fields: T): FieldValues<T> {
  const values = decodeFields(fields, {}, "", { errors: [], unknownFields: [] });
  if (values === undefined) throw new TypeError("a table of fields has no defaults");
  return values;
}

function joinPath(path: string, name: string): string {
  return path === "" ? name : `${path}.${name}`;
}

function describe(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object") return "an object";
  if (typeof value === "bigint") return `the number ${value}`;
  const shown = JSON.stringify(value) ?? String(value);
  return `the ${typeof value} ${shown.length > 64 ? `${shown.slice(0, 64)}…` : shown}`;
}
