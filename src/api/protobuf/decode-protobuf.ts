import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import { ApiError, badRequestError } from "../api-error.ts";
import { jsonShapeOf } from "./json-shape.ts";
import { MAGIC } from "./magic.ts";
import { type MessageField, messageFieldsOf, messageNameOf, type ObjectType } from "./message-fields.ts";

/** Objects of the API never nest deeper than this; a deeper one is an attack. */
const MAX_DEPTH = 64;
/** The bound on the fields of one body: an empty message takes two bytes, and far more once it is decoded. */
const MAX_VALUES = 100_000;

/**
 * Decodes an object as Go programs send it: protobuf in Kubernetes' envelope. Returns it as it would have come in JSON,
 * for `decodeTyped` to go on with. Throws an ApiError BadRequest for bytes that are no such object, and for kinds
 * without a known form (custom ones, definitions), which travel as JSON.
 */
export function decodeProtobuf(bytes: Uint8Array): Record<string, unknown> {
  const start = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, MAGIC.length));
  if (!start.equals(MAGIC)) {
    throw badRequestError(
      "the body of the request is not Kubernetes protobuf: it does not begin with its magic number",
    );
  }
  try {
    return decodeEnvelope(bytes.subarray(MAGIC.length));
  } catch (error) {
    // The reader throws these when the bytes end early or make no sense.
    if (error instanceof RangeError || error instanceof TypeError || isWireError(error)) {
      throw badRequestError(`the body of the request is not valid protobuf: ${String(error)}`);
    }
    throw error;
  }
}

const isWireError = (error: unknown) => error instanceof Error && error.constructor === Error;

function decodeEnvelope(bytes: Uint8Array): Record<string, unknown> {
  const envelope = new BinaryReader(bytes);
  let type = { apiVersion: "", kind: "" };
  let raw: Uint8Array = new Uint8Array();
  while (envelope.pos < envelope.len) {
    const [field, wire] = envelope.tag();
    if (field === 1) type = decodeTypeMeta(envelope.bytes());
    else if (field === 2) raw = envelope.bytes();
    else envelope.skip(wire);
  }
  return {
    ...decodeMessage(messageFieldsOf(bodyMessageOf(type)), raw, { depth: 0, bounds: { valuesLeft: MAX_VALUES } }),
    ...type,
  };
}

function decodeTypeMeta(bytes: Uint8Array): ObjectType {
  const reader = new BinaryReader(bytes);
  const type = { apiVersion: "", kind: "" };
  while (reader.pos < reader.len) {
    const [field, wire] = reader.tag();
    if (field === 1) type.apiVersion = reader.string();
    else if (field === 2) type.kind = reader.string();
    else reader.skip(wire);
  }
  return type;
}

/** The options of a call belong to every group. */
function bodyMessageOf(type: ObjectType): string {
  const message = type.kind === "DeleteOptions" ? "meta.v1.DeleteOptions" : messageNameOf(type);
  if (message !== undefined) return message;
  throw badRequestError(
    `objects of ${type.apiVersion}, kind ${type.kind}, are not understood as protobuf: send them as JSON`,
  );
}

type Fields = ReadonlyMap<number, MessageField>;

/** How deep a message lies, and how much the whole body may still hold. */
interface Level {
  readonly depth: number;
  readonly bounds: { valuesLeft: number };
}

function decodeMessage(fields: Fields, bytes: Uint8Array, level: Level): Record<string, unknown> {
  if (level.depth > MAX_DEPTH) throw new RangeError(`nested deeper than ${MAX_DEPTH} messages`);
  const reader = new BinaryReader(bytes);
  const decoded: Record<string, unknown> = {};
  while (reader.pos < reader.len) {
    const [number, wire] = reader.tag();
    const field = fields.get(number);
    if (field === undefined) reader.skip(wire);
    else readField(decoded, field, { reader, wire, level });
  }
  return decoded;
}

interface Position {
  readonly reader: BinaryReader;
  readonly wire: WireType;
  readonly level: Level;
}

function countValue({ bounds }: Level): void {
  if (bounds.valuesLeft-- > 0) return;
  throw new ApiError("RequestEntityTooLarge", `Request entity too large: limit is ${MAX_VALUES} values`);
}

function readField(decoded: Record<string, unknown>, field: MessageField, at: Position): void {
  const { name, shape, type } = field;
  countValue(at.level);
  if (name === "") {
    Object.assign(decoded, readValue(type, at));
  } else if (shape === "list") {
    const list = listAt(decoded, name);
    // Numbers may come packed, although Kubernetes does not do so.
    if (at.wire === WireType.LengthDelimited && NUMBERS.has(type)) readPacked(list, at);
    else list.push(readValue(type, at));
  } else if (shape === "map") {
    const [key, value] = readEntry(type, at);
    Object.defineProperty(mapAt(decoded, name), key, { value, enumerable: true, writable: true, configurable: true });
  } else {
    const value = readValue(type, at);
    if (value !== undefined && (field.isPointer || field.isRequired || !isZero(value))) decoded[name] = value;
  }
}

const NUMBERS = new Set(["int32", "int64"]);

function listAt(decoded: Record<string, unknown>, name: string): unknown[] {
  const before = decoded[name];
  const list: unknown[] = Array.isArray(before) ? before : [];
  decoded[name] = list;
  return list;
}

function mapAt(decoded: Record<string, unknown>, name: string): object {
  const before = decoded[name];
  const map = typeof before === "object" && before !== null ? before : {};
  decoded[name] = map;
  return map;
}

function readPacked(list: unknown[], { reader, level }: Position): void {
  const end = reader.uint32() + reader.pos;
  while (reader.pos < end) {
    countValue(level);
    list.push(Number(reader.int64()));
  }
}

function readEntry(valueType: string, { reader, level }: Position): [string, unknown] {
  const entry = new BinaryReader(reader.bytes());
  let key = "";
  let value: unknown = ABSENT_VALUES[valueType];
  while (entry.pos < entry.len) {
    const [number, wire] = entry.tag();
    if (number === 1) key = entry.string();
    else if (number === 2) value = readValue(valueType, { reader: entry, wire, level });
    else entry.skip(wire);
  }
  return [key, value];
}

/** An entry whose value is empty may leave the value out. */
const ABSENT_VALUES: Readonly<Record<string, unknown>> = { string: "", bytes: "", Quantity: "0", "Items:string": [] };

const isZero = (value: unknown) => value === "" || value === 0 || value === false || value === 0n;

function readValue(type: string, { reader, level }: Position): unknown {
  switch (type) {
    case "string":
      return reader.string();
    case "boolean":
      return reader.bool();
    case "int32":
      return reader.int32();
    case "int64":
      return integerOf(reader.int64());
    case "double":
      return reader.double();
    case "bytes":
      return Buffer.from(reader.bytes()).toString("base64");
    case "Time":
    case "MicroTime":
      return readTime(reader.bytes(), type);
    case "Quantity":
      return readText(reader.bytes());
    case "IntOrString":
      return readIntOrString(reader.bytes());
    case "RawBytes":
    case "RawExtension":
      return readJson(reader.bytes());
    default:
      return readMessage(type, reader.bytes(), { ...level, depth: level.depth + 1 });
  }
}

function readMessage(type: string, bytes: Uint8Array, level: Level): unknown {
  const fields = decodeMessage(messageFieldsOf(type), bytes, level);
  const shape = jsonShapeOf(type);
  return shape ? shape.fromFields(fields) : fields;
}

/** Returns an integer as JSON's reader does: a number while that is exact. */
function integerOf(value: bigint | string): number | bigint {
  const exact = BigInt(value);
  return Number.isSafeInteger(Number(exact)) ? Number(exact) : exact;
}

/** Reads a message with one string or list of bytes as field 1. */
function readFirst(bytes: Uint8Array): Uint8Array[] {
  const reader = new BinaryReader(bytes);
  const found: Uint8Array[] = [];
  while (reader.pos < reader.len) {
    const [number, wire] = reader.tag();
    if (number === 1 && wire === WireType.LengthDelimited) found.push(reader.bytes());
    else reader.skip(wire);
  }
  return found;
}

const readText = (bytes: Uint8Array) => Buffer.from(readFirst(bytes)[0] ?? new Uint8Array()).toString();

function readJson(bytes: Uint8Array): unknown {
  const text = readText(bytes);
  return text === "" ? undefined : (JSON.parse(text) as unknown);
}

function readIntOrString(bytes: Uint8Array): string | number {
  const reader = new BinaryReader(bytes);
  const value = { isText: false, number: 0, text: "" };
  while (reader.pos < reader.len) {
    const [number, wire] = reader.tag();
    if (number === 1) value.isText = Number(reader.int64()) === 1;
    else if (number === 2) value.number = reader.int32();
    else if (number === 3) value.text = reader.string();
    else reader.skip(wire);
  }
  return value.isText ? value.text : value.number;
}

/** Undefined for Go's zero time, which is sent as an empty message. */
function readTime(bytes: Uint8Array, type: "Time" | "MicroTime"): string | undefined {
  if (bytes.length === 0) return undefined;
  const reader = new BinaryReader(bytes);
  let seconds = 0;
  let nanos = 0;
  while (reader.pos < reader.len) {
    const [number, wire] = reader.tag();
    if (number === 1) seconds = Number(reader.int64());
    else if (number === 2) nanos = reader.int32();
    else reader.skip(wire);
  }
  const whole = new Date(seconds * 1000).toISOString().slice(0, 19);
  const micros = String(Math.floor(nanos / 1000)).padStart(6, "0");
  return type === "Time" ? `${whole}Z` : `${whole}.${micros}Z`;
}
