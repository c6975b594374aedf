import { WireType } from "@bufbuild/protobuf/wire";
import type { BackwardWriter } from "./backward-writer.ts";

/** Writes a value of one type, without its field's tag. */
export interface ValueWriter {
  readonly wire: WireType;
  /** The value written for an absent one where Go has no pointer; undefined where nothing is written even then. */
  readonly zero: unknown;
  write(writer: BackwardWriter, value: unknown): void;
}

/** The tag before a value: its field's number and how it is written. */
export const tagOf = (number: number, wire: WireType): number => number * 8 + wire;

/** Writes the output of `fill` as one value, with its length before it. */
export function writeDelimited(writer: BackwardWriter, fill: () => void): void {
  const before = writer.length;
  fill();
  writer.unsigned(writer.length - before);
}

const { Varint, Bit64, LengthDelimited } = WireType;

/** An extension that holds nothing, not even JSON's null. */
const NOTHING = Symbol("nothing");

/** The writers by type: all types except the messages of the table. */
export const SCALAR_WRITERS: ReadonlyMap<string, ValueWriter> = new Map<string, ValueWriter>([
  ["string", { wire: LengthDelimited, zero: "", write: (writer, value) => writer.text(textOf(value)) }],
  ["boolean", { wire: Varint, zero: false, write: (writer, value) => writer.unsigned(value === true ? 1 : 0) }],
  ["int32", { wire: Varint, zero: 0, write: (writer, value) => writer.signed(numberOf(value)) }],
  ["int64", { wire: Varint, zero: 0, write: (writer, value) => writer.signed(numberOf(value)) }],
  ["double", { wire: Bit64, zero: 0, write: (writer, value) => writer.double(Number(numberOf(value))) }],
  ["bytes", { wire: LengthDelimited, zero: undefined, write: writeBytes }],
  ["Time", { wire: LengthDelimited, zero: "", write: (writer, value) => writeTime(writer, textOf(value), 0) }],
  [
    "MicroTime",
    { wire: LengthDelimited, zero: "", write: (writer, value) => writeTime(writer, textOf(value), MICRO_DIGITS) },
  ],
  ["Quantity", { wire: LengthDelimited, zero: "0", write: writeQuantity }],
  ["IntOrString", { wire: LengthDelimited, zero: 0, write: writeIntOrString }],
  ["RawBytes", { wire: LengthDelimited, zero: undefined, write: writeJson }],
  ["RawExtension", { wire: LengthDelimited, zero: NOTHING, write: writeJson }],
]);

/** Objects are decoded by their schema before they are stored, so anything else is a mistake of this program. */
function textOf(value: unknown): string {
  if (typeof value === "string") return value;
  throw new TypeError(`expected text, got ${typeof value}`);
}

function numberOf(value: unknown): number | bigint {
  if (typeof value === "number" || typeof value === "bigint") return value;
  throw new TypeError(`expected a number, got ${typeof value}`);
}

function writeBytes(writer: BackwardWriter, value: unknown): void {
  const bytes = Buffer.from(textOf(value ?? ""), "base64");
  writer.raw(bytes);
  writer.unsigned(bytes.length);
}

const FIRST_VARINT = tagOf(1, Varint);
const SECOND_VARINT = tagOf(2, Varint);
const FIRST_BYTES = tagOf(1, LengthDelimited);
const THIRD_BYTES = tagOf(3, LengthDelimited);

const MICRO_DIGITS = 6;
const NANO_DIGITS = 9;
/** Go's zero time, which counts as no time. */
const ZERO_TIME = /^0001-01-01T00:00:00(\.0+)?Z$/;

/** Writes as many digits of the second's fraction as the type keeps. */
function writeTime(writer: BackwardWriter, text: string, digits: number): void {
  if (text === "" || ZERO_TIME.test(text)) {
    writer.unsigned(0);
    return;
  }
  const seconds = Math.floor(Date.parse(text) / 1000);
  const fraction = digits === 0 ? "" : (/\.(\d+)/.exec(text)?.[1] ?? "");
  const nanos = Number(fraction.slice(0, digits).padEnd(NANO_DIGITS, "0"));
  writeDelimited(writer, () => {
    writer.signed(nanos);
    writer.unsigned(SECOND_VARINT);
    writer.signed(seconds);
    writer.unsigned(FIRST_VARINT);
  });
}

function writeQuantity(writer: BackwardWriter, value: unknown): void {
  writeDelimited(writer, () => {
    // Lenient clients write quantities as numbers.
    writer.text(String(value));
    writer.unsigned(FIRST_BYTES);
  });
}

function writeIntOrString(writer: BackwardWriter, value: unknown): void {
  const isText = typeof value === "string";
  writeDelimited(writer, () => {
    writer.text(isText ? value : "");
    writer.unsigned(THIRD_BYTES);
    writer.signed(isText ? 0 : numberOf(value));
    writer.unsigned(SECOND_VARINT);
    writer.unsigned(isText ? 1 : 0);
    writer.unsigned(FIRST_VARINT);
  });
}

/** Writes any JSON, as its text. */
function writeJson(writer: BackwardWriter, value: unknown): void {
  if (value === NOTHING) {
    writer.unsigned(0);
    return;
  }
  writeDelimited(writer, () => {
    writer.text(JSON.stringify(value ?? null));
    writer.unsigned(FIRST_BYTES);
  });
}
