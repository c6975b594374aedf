import { constants, createDeflate, createInflate, type Deflate, type Inflate } from "node:zlib";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createFakeClock } from "../host/fake/fake-clock.ts";
import { connectStreams } from "./__fixtures__/connected-streams.ts";
import { createSpdyConnection } from "./create-spdy-connection.ts";
import { createSpdyFrameReader } from "./frame-reader.ts";
import {
  type ControlFrame,
  encodeDataHeader,
  encodeGoAway,
  encodePing,
  encodeRstStream,
  encodeSynReply,
  encodeSynStream,
  encodeWindowUpdate,
} from "./frames.ts";
import { decodeHeaderBlock, encodeHeaderBlock } from "./header-block.ts";
import { createHeaderCompressor, createHeaderDecompressor } from "./header-compression.ts";
import { HEADER_DICTIONARY } from "./header-dictionary.ts";

const hex = (text: string) => Buffer.from(text.replaceAll(/\s/g, ""), "hex");
const BLOCK = hex("00000001 00000004 706f7274 00000002 3830");

describe("a frame", () => {
  test.each<[string, Buffer, string]>([
    ["SYN_STREAM", encodeSynStream(1, BLOCK), `80030001 0000001c 00000001 00000000 0000 ${BLOCK.toString("hex")}`],
    ["SYN_REPLY", encodeSynReply(1, BLOCK), `80030002 00000016 00000001 ${BLOCK.toString("hex")}`],
    ["RST_STREAM", encodeRstStream(5, 5), "80030003 00000008 00000005 00000005"],
    ["PING", encodePing(7), "80030006 00000004 00000007"],
    ["GOAWAY", encodeGoAway(9, 1), "80030007 00000008 00000009 00000001"],
    ["WINDOW_UPDATE", encodeWindowUpdate(0, 65_536), "80030009 00000008 00000000 00010000"],
    ["data with FIN", encodeDataHeader(3, 0x010203, true), "00000003 01010203"],
  ])("of SPDY/3 is written as the specification says: %s", (_name, frame, golden) => {
    expect(frame).toEqual(hex(golden));
  });

  test("is read the same however its bytes are cut", () => {
    const bytes = Buffer.concat([
      encodeSynStream(1, BLOCK),
      encodeDataHeader(1, 5, false),
      Buffer.from("hello"),
      encodePing(2),
      hex("80030005 00000003 010203"),
      encodeDataHeader(1, 0, true),
      hex("80030004 0000000c 00000001 00000007 00000400"),
      encodeGoAway(3, 0),
    ]);
    const whole = read([bytes]);
    expect(whole).toEqual([
      { type: "syn-stream", streamId: 1, fin: false, block: BLOCK },
      "1:hello",
      { type: "ping", id: 2 },
      { type: "unknown" },
      "1:FIN",
      { type: "settings", initialWindowBytes: 1024 },
      { type: "go-away", lastStreamId: 3, status: 0 },
    ]);
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1 }), (cuts) => {
        const pieces: Buffer[] = [];
        for (let offset = 0, index = 0; offset < bytes.length; index++) {
          const size = cuts[index % cuts.length] ?? 1;
          pieces.push(bytes.subarray(offset, offset + size));
          offset += size;
        }
        expect(read(pieces)).toEqual(whole);
      }),
    );
  });
});

/** Reads control frames, and data joined by stream. */
function read(pieces: readonly Buffer[]): Array<ControlFrame | string> {
  const frames: Array<ControlFrame | string> = [];
  const sink = {
    control: (frame: ControlFrame) => void frames.push(frame),
    data(streamId: number, bytes: Buffer, fin: boolean) {
      const last = frames.at(-1);
      const text = `${bytes.toString()}${fin ? "FIN" : ""}`;
      if (typeof last === "string" && !fin) frames[frames.length - 1] = `${last}${text}`;
      else frames.push(`${streamId}:${text}`);
    },
  };
  const reader = createSpdyFrameReader(sink, { maxControlBytes: 1024 });
  for (const piece of pieces) reader.push(piece);
  return frames;
}

describe("rubbish from the peer ends the connection, never the process", () => {
  test.each<[string, string]>([
    ["another version of SPDY", "80020001 00000000"],
    ["a control frame that is too long", "80030001 00ffffff"],
    ["data of stream 0", "00000000 00000001 00"],
    ["a SYN_STREAM that is too short", "80030001 00000004 00000001"],
    ["a stream of our own number", "80030001 0000000a 00000002 00000000 0000"],
    ["headers that are not compressed", "80030001 0000000e 00000001 00000000 0000 00000000"],
    ["another dictionary", "80030001 00000010 00000001 00000000 0000 78bb 00000001"],
    ["a RST_STREAM of no stream", "80030003 00000008 00000000 00000005"],
    ["SETTINGS of another length than they say", "80030004 00000004 00000002"],
    ["a window that is too large", "80030004 0000000c 00000001 00000007 ffffffff"],
    ["HTTP", "474554202f20485454502f312e310d0a0d0a"],
  ])("%s", async (_what, bytes) => {
    const { clock, closed } = receive(hex(bytes));
    for (let turn = 0; turn < 5; turn++) await clock.settle();
    await clock.advance(1000);
    expect(await closed).toMatchObject({ name: "SpdyError" });
  });

  test("whatever it is", async () => {
    const frame = fc.oneof(
      fc.uint8Array({ maxLength: 64 }).map((bytes) => Buffer.from(bytes)),
      fc
        .tuple(fc.integer({ min: 0, max: 10 }), fc.integer({ min: 0, max: 3 }), fc.uint8Array({ maxLength: 40 }))
        .map(([type, flags, payload]) =>
          Buffer.concat([Buffer.from([0x80, 3, 0, type, flags, 0, 0, payload.length]), Buffer.from(payload)]),
        ),
      fc.uint8Array({ maxLength: 40 }).map((payload) => {
        const block = encodeHeaderBlock([["a", Buffer.from(payload).toString("latin1")]]);
        return encodeSynStream(1 + (payload.length % 7), createHeaderCompressor()(block));
      }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(frame, { maxLength: 10 }), async (frames) => {
        const { clock, closed, close } = receive(Buffer.concat(frames));
        await clock.settle();
        void close();
        await clock.settle();
        await clock.advance(1000);
        await closed;
        expect(clock.pendingTimers).toBe(0);
      }),
      { numRuns: 300 },
    );
  });
});

function receive(bytes: Buffer) {
  const { a, b } = connectStreams();
  const clock = createFakeClock();
  const server = createSpdyConnection(b, { role: "server", clock, onStream: (stream) => void stream.resume() });
  a.write(bytes);
  return { clock, closed: server.closed, close: () => server.close() };
}

/** The output of the stream for these bytes and those before, once it is flushed. */
async function pass(stream: Deflate | Inflate, bytes: Buffer): Promise<Buffer> {
  const chunks: Buffer[] = [];
  const onData = (chunk: Buffer) => void chunks.push(chunk);
  stream.on("data", onData);
  stream.write(bytes);
  await new Promise<void>((resolve) => stream.flush(constants.Z_SYNC_FLUSH, resolve));
  stream.off("data", onData);
  return Buffer.concat(chunks);
}

describe("a block of headers", () => {
  const headers = fc
    .uniqueArray(
      fc.tuple(
        fc.string({ minLength: 1 }).map((name) => name.toLowerCase()),
        fc.string(),
      ),
      {
        selector: ([name]) => name,
        maxLength: 20,
      },
    )
    .filter((list) => list.every(([name]) => name === name.toLowerCase()));

  test("is read as it was written", () => {
    fc.assert(
      fc.property(headers, (list) => void expect([...decodeHeaderBlock(encodeHeaderBlock(list))]).toEqual(list)),
    );
  });

  test("is compressed as zlib's own stream would be, and the other way round", async () => {
    const inflate = createInflate({ dictionary: HEADER_DICTIONARY });
    const deflate = createDeflate({ dictionary: HEADER_DICTIONARY });
    const compress = createHeaderCompressor();
    const decompress = createHeaderDecompressor(1024 * 1024);
    // These are far more bytes than the 32 KiB that deflate looks back.
    for (let number = 0; number < 1500; number++) {
      const block = encodeHeaderBlock([
        ["streamtype", number % 2 === 0 ? "data" : "error"],
        ["requestid", String(number)],
        ["note", `${number * 7919} `.repeat(number % 13)],
      ]);
      expect((await pass(inflate, compress(block))).equals(block)).toBe(true);
      expect(decompress(await pass(deflate, block)).equals(block)).toBe(true);
    }
  });

  test("that becomes too long is not decompressed", () => {
    const compressed = createHeaderCompressor()(encodeHeaderBlock([["a", "a".repeat(100_000)]]));
    expect(compressed.length).toBeLessThan(1000);
    expect(() => createHeaderDecompressor(64 * 1024)(compressed)).toThrow(/cannot be decompressed/);
  });
});
