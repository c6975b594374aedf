import { once } from "node:events";
import type { Duplex } from "node:stream";
import { buffer } from "node:stream/consumers";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createFakeClock } from "../host/fake/fake-clock.ts";
import { connectStreams, type NextCut } from "./__fixtures__/connected-streams.ts";
import { createSpdyConnection } from "./create-spdy-connection.ts";
import type { SpdyConnection, SpdyConnectionOptions } from "./spdy-connection.ts";
import type { SpdyStream } from "./spdy-stream.ts";

interface Pair {
  client: SpdyConnection;
  server: SpdyConnection;
  clientSocket: Duplex;
  serverSocket: Duplex;
  clock: ReturnType<typeof createFakeClock>;
}

type Side = Partial<SpdyConnectionOptions>;

function connect({ cut, client = {}, server = {} }: { cut?: NextCut; client?: Side; server?: Side } = {}): Pair {
  const { a, b } = connectStreams(cut);
  const clock = createFakeClock();
  return {
    clock,
    clientSocket: a,
    serverSocket: b,
    client: createSpdyConnection(a, { role: "client", clock, ...client }),
    server: createSpdyConnection(b, { role: "server", clock, ...server }),
  };
}

/** The handler of a server that sends back what it receives. */
const echo = (stream: SpdyStream) => void stream.pipe(stream);

/**
 * Reads all bytes and leaves the other way open, unlike an iterator, which destroys the stream that it has read to its
 * end.
 */
async function readAll(stream: SpdyStream): Promise<Buffer> {
  const chunks: Buffer[] = [];
  stream.on("data", (chunk: Buffer) => void chunks.push(chunk));
  await once(stream, "end");
  return Buffer.concat(chunks);
}

describe("a SPDY connection", () => {
  test("ends by itself where a stream of the peer cannot be handled", async () => {
    const onStream = () => {
      throw new Error("no room for streams");
    };
    const { client, server } = connect({ server: { onStream } });
    await client.openStream({ streamType: "data" });
    expect(await server.closed).toMatchObject({
      code: "protocol-error",
      message: expect.stringContaining("no room for streams"),
    });
    await client.close();
  });

  test("carries what is sent in many streams, however the bytes are cut", async () => {
    const bytes = fc.uint8Array({ maxLength: 3000 }).map((array) => Buffer.from(array));
    const plan = fc.record({
      cuts: fc.array(fc.integer({ min: 1, max: 5000 }), { minLength: 1, maxLength: 20 }),
      streams: fc.array(fc.array(bytes, { maxLength: 5 }), { minLength: 1, maxLength: 8 }),
    });
    await fc.assert(
      fc.asyncProperty(plan, async ({ cuts, streams }) => {
        let index = 0;
        const cut = () => cuts[index++ % cuts.length] ?? 1;
        const { client, server } = connect({ cut, server: { onStream: echo } });
        const answers = await Promise.all(
          streams.map(async (chunks, number) => {
            const stream = await client.openStream({ streamType: "data", requestID: String(number) });
            for (const chunk of chunks) stream.write(chunk);
            stream.end();
            return await buffer(stream);
          }),
        );
        streams.forEach((chunks, number) => void expect(answers[number]).toEqual(Buffer.concat(chunks)));
        await Promise.all([client.close(), server.close()]);
        expect([client.streamCount, server.streamCount]).toEqual([0, 0]);
      }),
      { numRuns: 60 },
    );
  });

  test("gives the server the headers, by names in lower case", async () => {
    const seen: Array<[string, string]> = [];
    const { client } = connect({ server: { onStream: ({ headers }) => void seen.push(...headers) } });
    const stream = await client.openStream({ streamType: "error", port: "80", Several: "a\0b", empty: "" });
    expect(seen).toEqual([
      ["streamtype", "error"],
      ["port", "80"],
      ["several", "a\0b"],
      ["empty", ""],
    ]);
    expect(stream.headers.get("streamtype")).toBe("error");
    await client.close();
  });

  test("opens streams from the server's side, too", async () => {
    const opened: SpdyStream[] = [];
    const { client, server } = connect({ client: { onStream: (stream) => void opened.push(stream) } });
    const stream = await server.openStream({ streamType: "data" });
    stream.end("from the server");
    expect(stream.id).toBe(2);
    expect((await buffer(opened[0] ?? stream)).toString()).toBe("from the server");
    await client.close();
  });
});

describe("the end of a stream", () => {
  test("goes one way at a time", async () => {
    const answered: string[] = [];
    const { client } = connect({
      server: {
        onStream(stream) {
          stream.on("data", (chunk) => void answered.push(String(chunk)));
          stream.once("end", () => stream.end("after the end"));
        },
      },
    });
    const stream = await client.openStream({});
    stream.end("question");
    expect((await readAll(stream)).toString()).toBe("after the end");
    expect(answered).toEqual(["question"]);
    await client.close();
  });

  test("that the peer makes with a reset lets what came before be read, and drops what is written after", async () => {
    const { client, clock } = connect({
      server: {
        onStream(stream) {
          stream.write("all that there is");
          stream.destroy();
        },
      },
    });
    const stream = await client.openStream({});
    await clock.settle();
    await new Promise<void>((resolve) => stream.write("to nobody", () => resolve()));
    expect((await buffer(stream)).toString()).toBe("all that there is");
    await client.close();
  });

  test("frees what waits to be sent when it is destroyed", async () => {
    const { client, serverSocket, clock } = connect({ server: { onStream: () => undefined } });
    const stream = await client.openStream({});
    serverSocket.pause();
    const failed = once(stream, "close");
    stream.write(Buffer.alloc(1024 * 1024));
    await clock.settle();
    stream.destroy();
    await failed;
    expect(client.streamCount).toBe(0);
    serverSocket.resume();
    const other = await client.openStream({});
    expect(other.id).toBe(3);
    await client.close();
  });
});

describe("a stream that is not accepted", () => {
  test.each<[string, Side]>([
    ["nobody takes streams", {}],
    ["the headers are not liked", { onStream: echo, accept: ({ size }) => size > 3 }],
    ["there are too many", { onStream: echo, limits: { maxStreams: 0 } }],
  ])("is refused: %s", async (_why, server) => {
    const { client } = connect({ server });
    await expect(client.openStream({ streamType: "data" })).rejects.toMatchObject({ code: "refused" });
    expect(client.streamCount).toBe(0);
    await client.close();
  });

  test("is given up after 30 seconds", async () => {
    const { client, serverSocket, clock } = connect({ server: { onStream: echo } });
    serverSocket.pause();
    const opened = client.openStream({});
    const outcome = expect(opened).rejects.toMatchObject({ code: "timed-out", message: "Timeout occurred" });
    await clock.advance(30_000);
    await outcome;
    expect([client.streamCount, clock.pendingTimers]).toEqual([0, 0]);
  });

  test("is given up on an abort", async () => {
    const { client, serverSocket } = connect({ server: { onStream: echo } });
    serverSocket.pause();
    const controller = new AbortController();
    const opened = client.openStream({}, { signal: controller.signal });
    controller.abort();
    await expect(opened).rejects.toMatchObject({ name: "AbortError" });
  });
});

describe("the end of a connection", () => {
  test("is told by both sides without a reason, and leaves no timer", async () => {
    const { client, server, clock } = connect({ server: { onStream: echo }, client: { pingPeriodMs: 5000 } });
    const stream = await client.openStream({});
    await client.close();
    expect(await server.closed).toBeUndefined();
    expect(await client.closed).toBeUndefined();
    expect(stream.destroyed).toBe(true);
    expect(clock.pendingTimers).toBe(0);
    await expect(client.openStream({})).rejects.toMatchObject({ code: "closed" });
  });

  test("fails the streams that are cut off, and not those that are complete", async () => {
    const served: SpdyStream[] = [];
    const { client, serverSocket, clock } = connect({ server: { onStream: (stream) => void served.push(stream) } });
    const cut = await client.openStream({});
    const complete = await client.openStream({});
    served[0]?.write("half of");
    served[1]?.end("all of it");
    await clock.settle();
    serverSocket.destroy();
    await new Promise<void>((resolve) => cut.once("close", resolve));
    expect(cut.errored).toMatchObject({ code: "connection-lost" });
    expect((await buffer(complete)).toString()).toBe("all of it");
  });

  test("cuts off a peer that does not hang up", async () => {
    const { a } = connectStreams();
    const clock = createFakeClock();
    const client = createSpdyConnection(a, { role: "client", clock });
    const closed = client.close();
    await clock.advance(1000);
    await closed;
    expect([a.destroyed, clock.pendingTimers]).toEqual([true, 0]);
  });

  test("comes when nothing was sent or received for the idle time; pings do not count", async () => {
    const { client, server, clock } = connect({
      client: { pingPeriodMs: 1000 },
      server: { onStream: echo, idleTimeoutMs: 10_000 },
    });
    const stream = await client.openStream({});
    await clock.advance(9_000);
    stream.write("still here");
    await clock.advance(9_000);
    expect(server.streamCount).toBe(1);
    await clock.advance(1_000);
    expect(await server.closed).toMatchObject({ code: "timed-out" });
    await client.closed;
    expect(clock.pendingTimers).toBe(0);
  });
});

describe("a ping", () => {
  const PING = "800300060000000400000001";
  const sentBy = (socket: Duplex) => {
    const chunks: Buffer[] = [];
    socket.on("data", (chunk: Buffer) => void chunks.push(chunk));
    return () => Buffer.concat(chunks).toString("hex");
  };

  test("goes out when nothing else does, and again when it was answered", async () => {
    const { serverSocket, client, clock } = connect({ client: { pingPeriodMs: 5000 } });
    const sent = sentBy(serverSocket);
    await clock.advance(4999);
    expect(sent()).toBe("");
    await clock.advance(1);
    expect(sent()).toBe(PING);
    await clock.advance(5000);
    expect(sent()).toBe(`${PING}${PING.slice(0, -1)}3`);
    await client.close();
  });

  test("does not go out while it might reach a peer that has sent all and hung up", async () => {
    const { clientSocket, client, clock } = connect({
      client: { pingPeriodMs: 5000, limits: { maxUnreadBytes: 1024 } },
      server: { onStream: (stream) => void stream.end(Buffer.alloc(1024 * 1024)) },
    });
    await client.openStream({});
    for (let turn = 0; turn < 10; turn++) await clock.settle();
    expect(clientSocket.isPaused()).toBe(true);
    let written = 0;
    const write = clientSocket.write.bind(clientSocket);
    Object.assign(clientSocket, { write: (chunk: Buffer) => write(chunk, () => written++) });
    await clock.advance(60_000);
    expect(written).toBe(0);
    await client.close();
  });
});

describe("back-pressure", () => {
  test("receives no more than the limit while nobody reads, then all of it", async () => {
    const served: SpdyStream[] = [];
    const maxUnreadBytes = 256 * 1024;
    const { client, clock } = connect({
      server: { onStream: (stream) => void served.push(stream), limits: { maxUnreadBytes } },
    });
    const stream = await client.openStream({});
    const total = 4 * 1024 * 1024;
    let taken = 0;
    for (let sent = 0; sent < total; sent += 64 * 1024) {
      stream.write(Buffer.alloc(64 * 1024), () => {
        taken += 64 * 1024;
      });
    }
    stream.end();
    await clock.settle();
    for (let turn = 0; turn < 50; turn++) await clock.settle();
    expect(taken).toBeGreaterThan(maxUnreadBytes);
    expect(taken).toBeLessThan(maxUnreadBytes + 512 * 1024);
    const [there] = served;
    expect((await buffer(there ?? stream)).length).toBe(total);
    await client.close();
  });

  test("cuts off a peer that has us answer what it does not read", async () => {
    const { a, b } = connectStreams();
    const clock = createFakeClock();
    const server = createSpdyConnection(b, { role: "server", clock, limits: { maxUnsentBytes: 64 * 1024 } });
    const ping = Buffer.from("8003000600000004000000ff", "hex");
    for (let count = 0; count < 20_000 && !b.destroyed; count++) a.write(ping);
    await clock.settle();
    for (let turn = 0; turn < 50; turn++) await clock.settle();
    await clock.advance(1_000);
    expect(await server.closed).toMatchObject({ code: "protocol-error" });
  });
});
