import type { Duplex } from "node:stream";
import { describe, expect, test } from "vitest";
import { createFakeClock } from "../host/fake/fake-clock.ts";
import { connectStreams } from "./__fixtures__/connected-streams.ts";
import { createSpdyConnection } from "./create-spdy-connection.ts";
import { encodeRstStream, encodeSynStream, encodeWindowUpdate, RESET_STATUS } from "./frames.ts";
import { encodeHeaderBlock } from "./header-block.ts";
import { createHeaderCompressor } from "./header-compression.ts";
import { SPDY_LIMITS, type SpdyConnectionOptions } from "./spdy-connection.ts";
import type { SpdyStream } from "./spdy-stream.ts";

const MIB = 1024 * 1024;

/** A server, and the other end of its connection, on which a test writes what it likes. */
function serve(options: Partial<SpdyConnectionOptions> = {}) {
  const { a, b } = connectStreams();
  const clock = createFakeClock();
  const streams: SpdyStream[] = [];
  const onStream = (stream: SpdyStream) => void streams.push(stream);
  const server = createSpdyConnection(b, { role: "server", clock, onStream, ...options });
  const compress = createHeaderCompressor();
  const open = (index: number) => encodeSynStream(2 * index + 1, compress(encodeHeaderBlock([["streamtype", "data"]])));
  const settle = async () => {
    for (let turn = 0; turn < 4; turn++) await clock.settle();
  };
  /** The peer does not hang up, and is cut off. */
  const end = async () => {
    const closed = server.close();
    await clock.advance(1_000);
    await closed;
  };
  return { server, peer: a, socket: b, clock, streams, open, settle, end };
}

/** SETTINGS with one entry, the initial window of streams. */
function windowsOf(bytes: number): Buffer {
  const frame = Buffer.from("80030004000000140000000100000007".padEnd(40, "0"), "hex").subarray(0, 20);
  frame.writeUInt8(12, 7);
  frame.writeUInt32BE(bytes, 16);
  return frame;
}

const resumeOf = (peer: Duplex) => peer.resume();

describe("a peer of a SPDY connection", () => {
  test("that opens streams and takes them back at once leaves nothing behind", async () => {
    const { server, peer, streams, open, settle, end } = serve();
    resumeOf(peer);
    for (let index = 0; index < 300; index++) {
      peer.write(open(index));
      peer.write(encodeRstStream(2 * index + 1, RESET_STATUS.cancel));
      if (index % 100 === 0) await settle();
      for (const stream of streams.splice(0)) stream.resume().end();
    }
    await settle();
    for (const stream of streams.splice(0)) stream.resume().end();
    await settle();
    expect(server.streamCount).toBe(0);
    await end();
  });

  test("that opens more streams than it may has the others refused", async () => {
    const { server, peer, streams, open, settle, end } = serve({ limits: { maxStreams: 10 } });
    resumeOf(peer);
    for (let index = 0; index < 100; index++) peer.write(open(index));
    await settle();
    expect([server.streamCount, streams.length]).toEqual([10, 10]);
    await end();
  });

  test("that opens streams and reads no answer is cut off", async () => {
    const { server, peer, socket, clock, open, settle } = serve({
      limits: { maxUnsentBytes: 8 * 1024, maxStreams: 1 },
    });
    let most = 0;
    for (let index = 0; index < 3_000 && !socket.destroyed && !socket.writableEnded; index++) {
      peer.write(open(index));
      if (index % 100 === 0) await settle();
      most = Math.max(most, socket.writableLength);
    }
    await clock.advance(1_000);
    expect(await server.closed).toMatchObject({ code: "protocol-error" });
    expect(most).toBeLessThan(64 * 1024);
  });

  test.each([
    ["has no window", (peer: Duplex) => peer.write(windowsOf(0))],
    ["opens its window by one byte at a time", dribble],
    ["reads nothing", () => undefined],
  ])("that %s holds up its stream, and what waits is bounded", async (_name, play) => {
    const { peer, socket, streams, open, settle, end } = serve();
    if (play.length > 0) resumeOf(peer);
    peer.write(open(0));
    play(peer);
    await settle();
    const [stream] = streams;
    let accepted = 0;
    while (accepted < 8 * MIB && stream?.write(Buffer.alloc(32 * 1024))) {
      accepted += 32 * 1024;
      await settle();
    }
    expect(accepted).toBeLessThan(MIB);
    expect((stream?.writableLength ?? 0) + socket.writableLength).toBeLessThan(MIB);
    await end();
  });

  test("that opens a window beyond the protocol's is cut off", async () => {
    const { server, peer, clock, open, settle } = serve();
    resumeOf(peer);
    peer.write(Buffer.concat([open(0), windowsOf(2 ** 31 - 1), ...Array(2).fill(encodeWindowUpdate(1, 2 ** 31 - 1))]));
    await settle();
    await clock.advance(1_000);
    expect(await server.closed).toMatchObject({ code: "protocol-error" });
  });

  test("that opens windows of streams that do not exist, and sends settings without end, costs nothing", async () => {
    const { server, peer, socket, settle, end } = serve();
    for (let index = 0; index < 2_000; index++) {
      peer.write(encodeWindowUpdate(2 * index + 1, 1_000));
      peer.write(windowsOf(index));
      if (index % 500 === 0) await settle();
    }
    await settle();
    expect([server.streamCount, socket.writableLength]).toEqual([0, 0]);
    await end();
  });

  test("that sends and is not read is held up", async () => {
    const { peer, open, settle, end } = serve();
    resumeOf(peer);
    peer.write(open(0));
    const data = Buffer.concat([Buffer.from("0000000100004000", "hex"), Buffer.alloc(16 * 1024)]);
    let taken = 0;
    for (let count = 0; count < 1_000; count++) {
      peer.write(data, () => {
        taken += data.length;
      });
    }
    await settle();
    expect(taken).toBeGreaterThan(SPDY_LIMITS.maxUnreadBytes / 2);
    expect(taken).toBeLessThan(2 * SPDY_LIMITS.maxUnreadBytes);
    await end();
  });
});

function dribble(peer: Duplex): void {
  peer.write(windowsOf(1));
  for (let count = 0; count < 100; count++) peer.write(encodeWindowUpdate(1, 1));
}
