import { WireType } from "@bufbuild/protobuf/wire";
import { isRecord } from "../object.ts";
import type { BackwardWriter } from "./backward-writer.ts";
import { jsonShapeOf } from "./json-shape.ts";
import { type MessageField, messageFieldsOf } from "./message-fields.ts";
import { SCALAR_WRITERS, tagOf, type ValueWriter } from "./write-scalar.ts";

type Fields = Readonly<Record<string, unknown>>;
type FieldWriter = (writer: BackwardWriter, object: Fields) => void;

/**
 * Writes an object's fields as the message, byte for byte as Go programs write them: by number, maps by key, and a
 * field that is no pointer in Go even when it is zero. Fields that the message does not have are left out.
 */
export function writeMessage(writer: BackwardWriter, message: string, object: Fields): void {
  for (const write of writersOf(message)) write(writer, object);
}

const writers = new Map<string, readonly FieldWriter[]>();

/** The writers go from the last field to the first, in the order of writing. */
function writersOf(message: string): readonly FieldWriter[] {
  const known = writers.get(message);
  if (known) return known;
  const fields = [...messageFieldsOf(message).values()].toSorted((a, b) => b.number - a.number);
  const made = fields.map(writerOfField);
  writers.set(message, made);
  return made;
}

function writerOfField(field: MessageField): FieldWriter {
  if (field.name === "") return writerOfEmbedded(field);
  if (field.shape === "list") return writerOfList(field);
  return field.shape === "map" ? writerOfMap(field) : writerOfOne(field);
}

function writerOfOne({ name, number, type, isPointer }: MessageField): FieldWriter {
  const { wire, write, zero } = valueWriterOf(type);
  const tag = tagOf(number, wire);
  const absent = isPointer ? undefined : zero;
  return (writer, object) => {
    const value = object[name] ?? absent;
    if (value === undefined) return;
    write(writer, value);
    writer.unsigned(tag);
  };
}

/** Writes an embedded message, whose fields are the parent's in JSON. */
function writerOfEmbedded({ number, type }: MessageField): FieldWriter {
  const { wire, write } = valueWriterOf(type);
  const tag = tagOf(number, wire);
  return (writer, object) => {
    write(writer, object);
    writer.unsigned(tag);
  };
}

function writerOfList({ name, number, type }: MessageField): FieldWriter {
  const { wire, write, zero } = valueWriterOf(type);
  const tag = tagOf(number, wire);
  return (writer, object) => {
    const list = object[name];
    if (!Array.isArray(list)) return;
    for (let index = list.length - 1; index >= 0; index--) {
      write(writer, list[index] ?? zero);
      writer.unsigned(tag);
    }
  };
}

const KEY_TAG = tagOf(1, WireType.LengthDelimited);

function writerOfMap({ name, number, type }: MessageField): FieldWriter {
  const { wire, write, zero } = valueWriterOf(type);
  const tag = tagOf(number, WireType.LengthDelimited);
  const valueTag = tagOf(2, wire);
  return (writer, object) => {
    const map = object[name];
    if (!isRecord(map)) return;
    for (const key of Object.keys(map).sort().reverse()) {
      const before = writer.length;
      write(writer, map[key] ?? zero);
      writer.unsigned(valueTag);
      writer.text(key);
      writer.unsigned(KEY_TAG);
      writer.unsigned(writer.length - before);
      writer.unsigned(tag);
    }
  };
}

const NO_FIELDS: Fields = {};

/** Returns the writer of a scalar or a message. */
function valueWriterOf(type: string): ValueWriter {
  const scalar = SCALAR_WRITERS.get(type);
  if (scalar) return scalar;
  const shape = jsonShapeOf(type);
  // The writers are looked up when the first value is written, because messages may hold themselves.
  let found: readonly FieldWriter[] | undefined;
  const write: ValueWriter["write"] = (writer, value) => {
    found ??= writersOf(type);
    const fields = shape ? shape.toFields(value) : fieldsIn(value);
    const before = writer.length;
    for (const writeField of found) writeField(writer, fields);
    writer.unsigned(writer.length - before);
  };
  return { wire: WireType.LengthDelimited, zero: NO_FIELDS, write };
}

/** Objects are decoded by their schema before they are stored, so anything else is a mistake of this program. */
function fieldsIn(value: unknown): Fields {
  if (isRecord(value)) return value;
  throw new TypeError(`expected an object, got ${typeof value}`);
}
