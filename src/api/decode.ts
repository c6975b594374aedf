import { type FieldError, fieldPath, showValue } from "./field-error.ts";
import { SCHEMA } from "./gen/schema.ts";
import type { ConfigMap, LifecycleHandler, Pod, Secret } from "./gen/types.ts";
import { isRecord } from "./object.ts";
import { formatQuantity, parseQuantity } from "./quantity.ts";

/** The kinds whose field tables `gen/schema.ts` holds. */
interface DecodableKinds {
  ConfigMap: ConfigMap;
  LifecycleHandler: LifecycleHandler;
  Pod: Pod;
  Secret: Secret;
}

export interface Decoded<Value> {
  /** Undefined when there are errors, because a half-decoded object is never handed on. */
  readonly value: Value | undefined;
  readonly errors: FieldError[];
  /** Unknown fields, which are dropped, and integers that had to be clamped. */
  readonly warnings: FieldError[];
}

/** More errors (or warnings) than this are not kept; a last entry says so. */
const MAX_FIELD_ERRORS = 20;
/** The default of `maxValues`: repeated YAML aliases could make a small text a huge object. */
const MAX_VALUES = 1_000_000;
/** Deeper values are refused: only schemas of custom resources nest at will, and all that reads them recurses. */
const MAX_STRUCT_DEPTH = 200;
/** How deep a field without a schema (managed fields) may nest. */
const MAX_RAW_DEPTH = 64;

/** Field tables by type name, in the grammar that `gen/schema.ts` explains. */
export type FieldTables = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** Lists, by type name, the fields that are absent when they are zero or empty. */
export type OmittedFields = Readonly<Record<string, ReadonlySet<string>>>;

interface DecodeOptions {
  readonly tables: FieldTables;
  readonly type: string;
  readonly omitted?: OmittedFields;
  readonly maxValues?: number;
}

/** Does what `decodeTyped` does, for the types that a node reads. */
export function decodeObject<Kind extends keyof DecodableKinds>(
  kind: Kind,
  value: unknown,
  path = "",
): Decoded<DecodableKinds[Kind]> {
  const decoded = decodeTyped({ tables: SCHEMA, type: kind }, value, path);
  // The walk over the kind's table has just established the type that the compiler cannot see.
  return { ...decoded, value: decoded.value as DecodableKinds[Kind] | undefined };
}

/**
 * Reads an untyped value (from JSON or YAML) as a type of the tables, by Go's rules. Names are case-sensitive. Null is
 * the same as absent. A required field that is absent gets its zero value (validation then reports it as missing).
 * Unknown fields are dropped with a warning. Quantities become canonical strings. A field named by `omitted` is dropped
 * when it is zero or empty, as Go's encoding drops it. An object of more than `maxValues` values (default a million) is
 * an error. `path` prefixes the paths in errors.
 */
export function decodeTyped(
  { tables, type, omitted = {}, maxValues = MAX_VALUES }: DecodeOptions,
  value: unknown,
  path = "",
): Decoded<unknown> {
  const context: Context = { tables, omitted, errors: [], warnings: [], valuesLeft: maxValues, maxValues, depth: 0 };
  const decoded = decodeValue(context, type, { value, path });
  const { errors, warnings } = context;
  return { value: errors.length === 0 ? decoded : undefined, errors, warnings };
}

interface Context {
  readonly tables: FieldTables;
  readonly omitted: OmittedFields;
  readonly errors: FieldError[];
  readonly warnings: FieldError[];
  readonly maxValues: number;
  valuesLeft: number;
  depth: number;
}

interface Input {
  readonly value: unknown;
  readonly path: string;
}

function report(list: FieldError[], path: string, message: string): void {
  if (list.length < MAX_FIELD_ERRORS) list.push({ path, message });
  else if (list.length === MAX_FIELD_ERRORS)
    list.push({ path: "", message: "too many of these: the rest is not shown" });
}

function decodeValue(context: Context, type: string, input: Input): unknown {
  if (isBeyondBound(context, input.path)) return undefined;
  if (type.startsWith("[]")) return decodeList(context, type.slice(2), input);
  if (type.startsWith("{}")) return decodeMap(context, type.slice(2), input);
  const decodeScalar = SCALARS.get(type);
  if (decodeScalar) return decodeScalar(context, input);
  if (context.depth === MAX_STRUCT_DEPTH) return reject(context, input, `at most ${MAX_STRUCT_DEPTH} levels`);
  context.depth++;
  const decoded = decodeStruct(context, type, input);
  context.depth--;
  return decoded;
}

/** Counts a value, and reports the first one beyond the bound; those after it are not looked at. */
function isBeyondBound(context: Context, path: string): boolean {
  if (context.valuesLeft-- > 0) return false;
  if (context.valuesLeft === -1) report(context.errors, path, `more than ${context.maxValues} values in one object`);
  return true;
}

function decodeList(context: Context, itemType: string, { value, path }: Input): unknown {
  if (!Array.isArray(value)) return reject(context, { value, path }, "list");
  return value.map((item: unknown, index) => {
    return isAbsent(item)
      ? zeroOf(context.tables, itemType)
      : decodeValue(context, itemType, { value: item, path: `${path}[${index}]` });
  });
}

function decodeMap(context: Context, valueType: string, { value, path }: Input): unknown {
  if (!isRecord(value)) return reject(context, { value, path }, "object");
  const entries = Object.entries(value).map(([key, item]) => {
    const decoded = isAbsent(item)
      ? zeroOf(context.tables, valueType)
      : decodeValue(context, valueType, { value: item, path: `${path}[${key}]` });
    return [key, decoded];
  });
  return Object.fromEntries(entries);
}

function decodeStruct(context: Context, type: string, { value, path }: Input): unknown {
  if (!isRecord(value)) return reject(context, { value, path }, "object");
  const fields = context.tables[type] ?? {};
  const omitted = context.omitted[type];
  const decoded: Record<string, unknown> = {};
  for (const [name, item] of Object.entries(value)) {
    const field = fieldPath(path, name);
    const declared = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (declared === undefined) {
      report(context.warnings, field, `unknown field "${field}"`);
      continue;
    }
    if (isAbsent(item)) continue;
    const read = decodeValue(context, withoutMark(declared), { value: item, path: field });
    if (!(omitted?.has(name) && isZero(read))) decoded[name] = read;
  }
  fillRequired(context.tables, fields, decoded);
  return decoded;
}

function fillRequired(
  tables: FieldTables,
  fields: Readonly<Record<string, string>>,
  decoded: Record<string, unknown>,
): void {
  for (const [name, type] of requiredOf(fields)) decoded[name] ??= zeroOf(tables, type);
}

/** The required fields of each table, looked for once: a schema has forty fields, and there are thousands of schemas. */
const requiredFields = new WeakMap<object, ReadonlyArray<readonly [string, string]>>();

function requiredOf(fields: Readonly<Record<string, string>>): ReadonlyArray<readonly [string, string]> {
  const known = requiredFields.get(fields);
  if (known) return known;
  const marked = Object.entries(fields).filter(([, declared]) => declared.endsWith("!"));
  const required = marked.map(([name, declared]) => [name, withoutMark(declared)] as const);
  requiredFields.set(fields, required);
  return required;
}

/** True for values that Go's `omitempty` leaves out of fields that are neither structs nor pointers. */
function isZero(value: unknown): boolean {
  if (typeof value === "object" && value !== null) return Object.keys(value).length === 0;
  return value === "" || value === 0 || value === false;
}

/** Go's zero value, as it would be written to JSON. */
function zeroOf(tables: FieldTables, type: string): unknown {
  if (type.startsWith("[]")) return [];
  if (type.startsWith("{}")) return {};
  if (SCALARS.has(type)) return type in ZEROS ? ZEROS[type] : "";
  const decoded: Record<string, unknown> = {};
  fillRequired(tables, tables[type] ?? {}, decoded);
  return decoded;
}

const ZEROS: Readonly<Record<string, unknown>> = {
  boolean: false,
  int32: 0,
  int64: 0,
  double: 0,
  IntOrString: 0,
  Quantity: "0",
  // Go reads no time from an empty text, and writes its zero time so.
  Time: null,
  MicroTime: null,
  raw: {},
};

const withoutMark = (declared: string) => (declared.endsWith("!") ? declared.slice(0, -1) : declared);
const isAbsent = (value: unknown): value is null | undefined => value === null || value === undefined;

type ScalarDecoder = (context: Context, input: Input) => unknown;

const SCALARS: ReadonlyMap<string, ScalarDecoder> = new Map<string, ScalarDecoder>([
  ["string", (context, input) => (typeof input.value === "string" ? input.value : reject(context, input, "string"))],
  ["boolean", (context, input) => (typeof input.value === "boolean" ? input.value : reject(context, input, "boolean"))],
  ["double", (context, input) => (isNumber(input.value) ? Number(input.value) : reject(context, input, "number"))],
  ["int32", (context, input) => decodeInteger(context, input, 32n)],
  ["int64", (context, input) => decodeInteger(context, input, 64n)],
  ["IntOrString", decodeIntOrString],
  ["Quantity", decodeQuantity],
  ["Time", decodeTime],
  ["MicroTime", decodeTime],
  ["bytes", decodeBytes],
  ["raw", (context, input) => decodeRaw(context, input, 0)],
]);

function reject(context: Context, { value, path }: Input, expected: string): undefined {
  report(context.errors, path, `expected ${expected}, got ${describe(value)}`);
  return undefined;
}

function describe(value: unknown): string {
  if (Array.isArray(value)) return "list";
  if (typeof value === "bigint") return `integer ${value}`;
  if (typeof value === "number") return `${Number.isInteger(value) ? "integer" : "number"} ${value}`;
  if (typeof value === "string" || typeof value === "boolean") return `${typeof value} ${showValue(value)}`;
  return value === null ? "null" : typeof value;
}

function isNumber(value: unknown): value is number | bigint {
  return typeof value === "bigint" || (typeof value === "number" && Number.isFinite(value));
}

function decodeInteger(context: Context, input: Input, bits: 32n | 64n): number | undefined {
  const { value, path } = input;
  if (!isNumber(value) || (typeof value === "number" && !Number.isInteger(value)))
    return reject(context, input, "integer");
  const limit = 2n ** (bits - 1n);
  const exact = BigInt(value);
  // JSON's 9223372036854775807 arrives rounded up to 2^63; that value passes as the one that was meant.
  const isRounded = typeof value === "number" && exact === limit && bits === 64n;
  if (!isRounded && (exact < -limit || exact >= limit)) {
    return reject(context, input, `integer between ${-limit} and ${limit - 1n}`);
  }
  if (Number.isSafeInteger(Number(exact))) return Number(exact);
  const clamped = exact < 0n ? Number.MIN_SAFE_INTEGER : Number.MAX_SAFE_INTEGER;
  report(context.warnings, path, `${exact} is beyond what this node keeps exactly: taken as ${clamped}`);
  return clamped;
}

function decodeIntOrString(context: Context, input: Input): string | number | undefined {
  if (typeof input.value === "string") return input.value;
  if (isNumber(input.value)) return decodeInteger(context, input, 32n);
  return reject(context, input, "integer or string");
}

function decodeQuantity(context: Context, input: Input): string | undefined {
  const { value } = input;
  if (typeof value !== "string" && !isNumber(value)) return reject(context, input, "quantity");
  const quantity = parseQuantity(String(value).trim());
  if (!quantity) return reject(context, input, "quantity such as 500m, 2 or 1.5Gi");
  return formatQuantity(quantity);
}

const RFC_3339 = /^\d{4}-(\d\d)-(\d\d)T\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/;

/** True for a time as the API writes it. */
export function isTimeText(value: unknown): value is string {
  return typeof value === "string" && RFC_3339.test(value) && !Number.isNaN(Date.parse(value));
}

function decodeTime(context: Context, input: Input): string | undefined {
  const { value } = input;
  if (isTimeText(value)) return value;
  return reject(context, input, "time such as 2006-01-02T15:04:05Z");
}

function decodeBytes(context: Context, input: Input): string | undefined {
  const { value } = input;
  const isBase64 = typeof value === "string" && value.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(value);
  return isBase64 ? value : reject(context, input, "base64");
}

/** A value without a schema is taken as it is, but copied, so that shared YAML nodes do not stay shared. */
function decodeRaw(context: Context, input: Input, depth: number): unknown {
  const { value, path } = input;
  if (depth > MAX_RAW_DEPTH) return reject(context, input, `at most ${MAX_RAW_DEPTH} levels`);
  if (isBeyondBound(context, path)) return undefined;
  if (Array.isArray(value)) {
    return value.map((item: unknown, index) =>
      decodeRaw(context, { value: item, path: `${path}[${index}]` }, depth + 1),
    );
  }
  if (!isRecord(value)) return typeof value === "bigint" ? Number(value) : value;
  const entries = Object.entries(value).map(([key, item]) => {
    return [key, decodeRaw(context, { value: item, path: fieldPath(path, key) }, depth + 1)];
  });
  return Object.fromEntries(entries);
}
