import { WireType } from "@bufbuild/protobuf/wire";
import { BackwardWriter } from "./backward-writer.ts";
import { writeMessage } from "./encode-message.ts";
import { MAGIC } from "./magic.ts";
import { messageNameOf, type ObjectType } from "./message-fields.ts";
import { tagOf, writeDelimited } from "./write-scalar.ts";

/** True for kinds that can be sent in protobuf: built-in ones, and their lists; custom resources cannot. */
export function hasProtobufForm(type: ObjectType): boolean {
  return messageNameOf(type) !== undefined;
}

/** An object as JSON has it. */
export interface ProtobufObject extends Partial<ObjectType> {
  readonly [field: string]: unknown;
}

/**
 * Encodes the object in Kubernetes' envelope, as kube-apiserver answers with it. Throws TypeError for a kind without a
 * form in protobuf.
 */
export function encodeProtobuf(object: ProtobufObject): Buffer {
  return written((writer) => writeObject(writer, object));
}

/** Encodes the object alone, without the envelope and its type, as Go's `Marshal` of it does. */
export function encodeProtobufMessage(type: ObjectType, object: Readonly<Record<string, unknown>>): Buffer {
  const message = knownMessageOf(type);
  return written((writer) => writeMessage(writer, message, object));
}

/** Encodes one item of a list; `encodeProtobufList` puts the items together. */
export function encodeProtobufItem(type: ObjectType, item: Readonly<Record<string, unknown>>): Buffer {
  const message = knownMessageOf(type);
  return written((writer) => {
    writeDelimited(writer, () => writeMessage(writer, message, item));
    writer.unsigned(ITEM);
  });
}

/** Encodes a list of encoded items, which are not copied, in the envelope; `list` is everything except the items. */
export function encodeProtobufList(list: ProtobufObject, items: readonly Buffer[]): Buffer[] {
  const message = knownMessageOf(typeOf(list));
  const itemBytes = items.reduce((sum, { length }) => sum + length, 0);
  const head = written((writer) => {
    writeMessage(writer, message, list);
    writer.unsigned(writer.length + itemBytes);
    writeEnvelopeHead(writer, typeOf(list));
  });
  return [head, ...items, written(writeEnvelopeTail)];
}

/** Encodes an event of a watch, with the length that frames it in the stream. */
export function encodeProtobufEvent(type: string, object: ProtobufObject): Buffer {
  return written((writer) => {
    // The object is the content of an extension, the second field of the event.
    writeDelimited(writer, () => {
      writeDelimited(writer, () => writeObject(writer, object));
      writer.unsigned(RAW_EXTENSION);
    });
    writer.unsigned(EVENT_OBJECT);
    writer.text(type);
    writer.unsigned(EVENT_TYPE);
    const frame = Buffer.alloc(FRAME_BYTES);
    frame.writeUInt32BE(writer.length);
    writer.raw(frame);
  });
}

const FRAME_BYTES = 4;
const ITEM = tagOf(2, WireType.LengthDelimited);
const RAW_EXTENSION = tagOf(1, WireType.LengthDelimited);
const EVENT_TYPE = tagOf(1, WireType.LengthDelimited);
const EVENT_OBJECT = tagOf(2, WireType.LengthDelimited);

/** One writer is enough for all callers, because no writing waits. */
const shared = new BackwardWriter();

function written(write: (writer: BackwardWriter) => void): Buffer {
  try {
    write(shared);
    return shared.finish();
  } catch (error) {
    shared.discard();
    throw error;
  }
}

const typeOf = ({ apiVersion = "", kind = "" }: ProtobufObject): ObjectType => ({ apiVersion, kind });

function knownMessageOf(type: ObjectType): string {
  const message = messageNameOf(type);
  if (message === undefined) throw new TypeError(`there is no protobuf for ${type.apiVersion}, kind ${type.kind}`);
  return message;
}

function writeObject(writer: BackwardWriter, object: ProtobufObject): void {
  const type = typeOf(object);
  const message = knownMessageOf(type);
  writeEnvelopeTail(writer);
  writeDelimited(writer, () => writeMessage(writer, message, object));
  writeEnvelopeHead(writer, type);
}

const TYPE = tagOf(1, WireType.LengthDelimited);
const RAW = tagOf(2, WireType.LengthDelimited);
const CONTENT_ENCODING = tagOf(3, WireType.LengthDelimited);
const CONTENT_TYPE = tagOf(4, WireType.LengthDelimited);
const API_VERSION = tagOf(1, WireType.LengthDelimited);
const KIND = tagOf(2, WireType.LengthDelimited);

/** Writes the part before the object: the magic number, its type, and the tag of the field that holds it. */
function writeEnvelopeHead(writer: BackwardWriter, { apiVersion, kind }: ObjectType): void {
  writer.unsigned(RAW);
  writeDelimited(writer, () => {
    writer.text(kind);
    writer.unsigned(KIND);
    writer.text(apiVersion);
    writer.unsigned(API_VERSION);
  });
  writer.unsigned(TYPE);
  writer.raw(MAGIC);
}

/** Writes the part after the object: fields that are always empty, and always there. */
function writeEnvelopeTail(writer: BackwardWriter): void {
  writer.text("");
  writer.unsigned(CONTENT_TYPE);
  writer.text("");
  writer.unsigned(CONTENT_ENCODING);
}
