import type { IncomingMessage } from "node:http";
import { BinaryReader } from "@bufbuild/protobuf/wire";
import { decodeProtobuf } from "../../../src/api/protobuf/decode-protobuf.ts";

/** An event of a watch in protobuf, its object as JSON would have it. */
interface FramedEvent {
  readonly type: string;
  readonly object: Record<string, unknown>;
}

/** An event takes milliseconds; a machine that is busy may take a thousand times as long. */
const EVENTS_TIMEOUT_MS = 20_000;
const LENGTH_BYTES = 4;

/** The first events of a watch in protobuf, which is closed afterwards. Rejects when they do not come in time. */
export async function readFrames(response: IncomingMessage, count: number): Promise<FramedEvent[]> {
  const timeout = setTimeout(() => response.destroy(new Error("the events did not come")), EVENTS_TIMEOUT_MS);
  const events: FramedEvent[] = [];
  try {
    let rest = Buffer.alloc(0);
    for await (const chunk of response) {
      rest = Buffer.concat([rest, Buffer.from(chunk)]);
      while (rest.length >= LENGTH_BYTES && rest.length >= LENGTH_BYTES + rest.readUInt32BE()) {
        const end = LENGTH_BYTES + rest.readUInt32BE();
        events.push(decodeEvent(rest.subarray(LENGTH_BYTES, end)));
        rest = rest.subarray(end);
      }
      if (events.length >= count) return events;
    }
    throw new Error(`the watch ended after ${events.length} of ${count} events`);
  } finally {
    clearTimeout(timeout);
    response.destroy();
  }
}

function decodeEvent(frame: Uint8Array): FramedEvent {
  const { 1: type = new Uint8Array(), 2: extension = new Uint8Array() } = fieldsIn(frame);
  const { 1: envelope = new Uint8Array() } = fieldsIn(extension);
  return { type: Buffer.from(type).toString(), object: decodeProtobuf(envelope) };
}

/** The fields of a protobuf message in which each field is bytes, by number. */
function fieldsIn(message: Uint8Array): Readonly<Record<number, Uint8Array>> {
  const reader = new BinaryReader(message);
  const fields: Record<number, Uint8Array> = {};
  while (reader.pos < reader.len) {
    const [number] = reader.tag();
    fields[number] = reader.bytes();
  }
  return fields;
}
