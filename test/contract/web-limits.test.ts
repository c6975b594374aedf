import { once } from "node:events";
import { connect as connectHttp2 } from "node:http2";
import { connect, type Socket } from "node:net";
import { PassThrough, Readable } from "node:stream";
import { finished } from "node:stream/promises";
import { connect as connectTls, type TLSSocket } from "node:tls";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import type { AnswerWriter, HttpLimits, HttpServer } from "../../src/host/http-server.ts";
import { listenHttp } from "../../src/host/linux/network/listen-http.ts";
import { END_HEADERS, FRAME, frameBytes, PREFACE, requestOf } from "./api/http2-frames.ts";
import { issueLoopbackCertificate, type LoopbackCertificates, webOptions } from "./loopback-certificate.ts";

/** For what a case is not about. */
const LONG_MS = 600_000;
const SHORT_MS = 400;
const LONG_ANSWER = Buffer.alloc(64 * 1024 * 1024, "x");
const FLOOD_BYTES = 48 * 1024 * 1024;
const HEADERS = "Host: x\r\n";

/** Each case holds one thing back, and is cut off for it while others are served. */
describe("a server whose clients take and do not give", () => {
  let certificates: LoopbackCertificates;
  let server: HttpServer;
  const writers: AnswerWriter[] = [];
  const bodies: Promise<unknown>[] = [];
  const sockets: Socket[] = [];

  beforeAll(async () => {
    certificates = await issueLoopbackCertificate();
  });
  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy();
    writers.length = 0;
    bodies.length = 0;
    await server.close();
  });

  async function listen(limits: Partial<HttpLimits>): Promise<void> {
    const long = { greetingMs: LONG_MS, headersMs: LONG_MS, quietMs: LONG_MS, waitMs: LONG_MS };
    const options = { ...webOptions(certificates), limits: { ...long, ...limits } };
    server = await listenHttp(options, async (request) => {
      const answer = { status: 200, headers: {} };
      if (request.path === "/long") return { ...answer, body: LONG_ANSWER };
      if (request.path === "/pieces")
        return { ...answer, body: Array.from({ length: 64 }, () => LONG_ANSWER.subarray(0, 2 ** 20)) };
      const [user] = request.header("authorization");
      if (user !== undefined) request.vouch(user);
      if (request.path === "/stream") return { ...answer, body: { stream: (writer) => void writers.push(writer) } };
      if (request.path === "/unread") return { ...answer, body: "unread\n" };
      if (request.path === "/passed-on") {
        await finished(request.bodyStream()?.pipe(new PassThrough()).resume() ?? Readable.from([])).catch(
          () => undefined,
        );
      } else if (request.method === "POST") {
        const body = request.readBody(request.path === "/long-body" ? 100_000 : 1000);
        bodies.push(body.catch((error: unknown) => error));
        await body;
      }
      return { ...answer, body: "served\n" };
    });
  }

  function connectTcp(): Socket {
    const socket = connect(server.port, "127.0.0.1").on("error", () => undefined);
    sockets.push(socket);
    return socket;
  }

  async function connectSecurely(protocol = "http/1.1"): Promise<TLSSocket> {
    const options = {
      host: "127.0.0.1",
      port: server.port,
      ca: certificates.authority.certificatePem,
      ALPNProtocols: [protocol],
    };
    const socket = connectTls(options).on("error", () => undefined);
    sockets.push(socket);
    await once(socket, "secureConnect");
    return socket;
  }

  const get = (path: string) => `GET ${path} HTTP/1.1\r\n${HEADERS}\r\n`;

  /** Over a connection of its own: what everybody else sees meanwhile. */
  async function expectServed(): Promise<void> {
    const socket = await connectSecurely();
    socket.write(get("/"));
    const [chunk] = await once(socket, "data");
    expect(String(chunk)).toContain("200 OK");
    socket.destroy();
  }

  const closed = async (socket: Socket) => {
    socket.resume();
    // Not `once`, which would take a reset for a failure.
    if (!socket.closed) await new Promise((resolve) => socket.once("close", resolve));
  };

  it("closes a connection that never greets", async () => {
    await listen({ greetingMs: SHORT_MS });
    const socket = connectTcp();
    await expectServed();
    await closed(socket);
  });

  it("closes a connection whose greeting goes on for ever", async () => {
    await listen({ greetingMs: SHORT_MS });
    const socket = connectTcp();
    // A record of TLS that announces 16 KiB, of which one byte comes at a time.
    socket.write(Buffer.from([22, 3, 1, 64, 0]));
    const drip = setInterval(() => socket.write(Buffer.from([1])), SHORT_MS / 10);
    await closed(socket).finally(() => clearInterval(drip));
  });

  it.each(["http/1.1", "h2"])("closes a connection of %s on which nothing is ever asked", async (protocol) => {
    await listen({ headersMs: SHORT_MS });
    const socket = await connectSecurely(protocol);
    await expectServed();
    await closed(socket);
  });

  it("closes a connection whose headers never end", async () => {
    await listen({ headersMs: SHORT_MS });
    const socket = await connectSecurely();
    socket.write(`GET / HTTP/1.1\r\n${HEADERS}`);
    const drip = setInterval(() => socket.write("X-More: y\r\n"), SHORT_MS / 10);
    await closed(socket).finally(() => clearInterval(drip));
  });

  it("closes a connection that has been quiet, whatever pings come", async () => {
    await listen({ quietMs: SHORT_MS });
    const session = connectHttp2(`https://127.0.0.1:${server.port}`, { ca: certificates.authority.certificatePem });
    session.on("error", () => undefined);
    const stream = session.request({ ":path": "/" });
    await once(stream.resume(), "close");
    const pings = setInterval(() => session.destroyed || session.ping(() => undefined), SHORT_MS / 10);
    await new Promise((resolve) => session.once("close", resolve)).finally(() => clearInterval(pings));
  });

  it("keeps a connection on which an answer streams, however little happens", async () => {
    await listen({ headersMs: SHORT_MS, quietMs: SHORT_MS, waitMs: SHORT_MS });
    const socket = await connectSecurely();
    socket.write(get("/stream"));
    await once(socket, "data");
    const quiet = await connectSecurely();
    quiet.write(get("/"));
    await closed(quiet);
    writers[0]?.write("still here");
    const [chunk] = await once(socket, "data");
    expect(String(chunk)).toContain("still here");
  });

  it("cuts off who dribbles a body over HTTP/1.1", async () => {
    await listen({ waitMs: SHORT_MS });
    const socket = await connectSecurely();
    socket.write(`POST / HTTP/1.1\r\n${HEADERS}Content-Length: 1000\r\n\r\n`);
    const drip = setInterval(() => socket.write("x"), SHORT_MS / 10);
    await expectServed();
    await closed(socket).finally(() => clearInterval(drip));
    expect(await bodies[0]).toMatchObject({ code: "body-aborted" });
  });

  it("cuts off the stream over HTTP/2, and not the connection", async () => {
    await listen({ waitMs: SHORT_MS });
    const session = connectHttp2(`https://127.0.0.1:${server.port}`, { ca: certificates.authority.certificatePem });
    const slow = session.request({ ":path": "/", ":method": "POST" }).on("error", () => undefined);
    slow.write("x");
    await once(slow, "close");
    expect(await bodies[0]).toMatchObject({ code: "body-aborted" });
    const next = session.request({ ":path": "/" });
    const [headers] = await once(next, "response");
    expect(headers).toMatchObject({ ":status": 200 });
    session.destroy();
  });

  /** Returns what could be sent before the server hung up; the flood is far more than it may read. */
  async function flood(socket: TLSSocket, first: Buffer, next: Buffer): Promise<number> {
    socket.resume();
    socket.write(first);
    while (!socket.destroyed && socket.bytesWritten < FLOOD_BYTES) {
      const isTaken = await new Promise<boolean>((resolve) => {
        socket.once("close", () => resolve(false));
        socket.write(next, (error) => resolve(error === undefined || error === null));
      });
      if (!isTaken) break;
    }
    return socket.bytesWritten;
  }

  const CHUNKS = Buffer.from("1\r\na\r\n".repeat(10_000));
  const FRAMES = Buffer.concat(
    Array.from({ length: 7_000 }, () => frameBytes({ type: FRAME.data, stream: 1, payload: Buffer.from("a") })),
  );

  it.each(["/", "/unread", "/passed-on"])(
    "cuts off who sends a body to %s byte by byte over HTTP/1.1",
    async (path) => {
      await listen({});
      const head = `POST ${path} HTTP/1.1\r\n${HEADERS}Transfer-Encoding: chunked\r\n\r\n`;
      const sentBytes = await flood(await connectSecurely(), Buffer.from(head), CHUNKS);
      expect(sentBytes).toBeLessThan(FLOOD_BYTES);
      await expectServed();
    },
  );

  it("says what is wrong with a body of thousands of small chunks, and reads on", async () => {
    await listen({});
    const body = "1\r\n \r\n".repeat(5_000);
    const socket = await connectSecurely();
    socket.write(`POST /long-body HTTP/1.1\r\n${HEADERS}Transfer-Encoding: chunked\r\n\r\n${body}0\r\n\r\n`);
    const [chunk] = await once(socket, "data");
    expect(String(chunk)).toContain("too many small pieces");
    expect(await bodies[0]).toMatchObject({ code: "body-in-pieces" });
    socket.write(get("/"));
    const [next] = await once(socket, "data");
    expect(String(next)).toContain("200 OK");
  });

  it.each(["/", "/passed-on"])("cuts off who sends a body to %s byte by byte over HTTP/2", async (path) => {
    await listen({});
    const opened = { type: FRAME.headers, flags: END_HEADERS, stream: 1, payload: requestOf(path, "POST") };
    const first = Buffer.concat([PREFACE, frameBytes({ type: FRAME.settings }), frameBytes(opened)]);
    const sentBytes = await flood(await connectSecurely("h2"), first, FRAMES);
    expect(sentBytes).toBeLessThan(FLOOD_BYTES);
    await expectServed();
  });

  it.each(["/long", "/pieces"])("cuts off who does not read the answer to %s", async (path) => {
    await listen({ waitMs: SHORT_MS });
    const socket = await connectSecurely();
    socket.pause();
    socket.write(get(path));
    await expectServed();
    // Nothing is read of it: that it was cut off is what the other end says.
    const cut = new Promise((resolve) => socket.once("close", resolve));
    setTimeout(() => socket.resume(), 4 * SHORT_MS);
    await cut;
    expect(socket.bytesRead).toBeLessThan(LONG_ANSWER.length);
  });

  it("cuts off who does not read a stream to its end", async () => {
    await listen({ waitMs: SHORT_MS });
    const socket = await connectSecurely();
    socket.write(get("/stream"));
    await once(socket, "data");
    socket.pause();
    const [writer] = writers;
    writer?.write(LONG_ANSWER);
    writer?.end();
    await new Promise((resolve) => writer?.signal.addEventListener("abort", resolve));
  });

  it("closes what has been quiet for longest when there are too many connections", async () => {
    await listen({ maxConnections: 20 });
    const streaming = await connectSecurely();
    streaming.write(get("/stream"));
    await once(streaming, "data");
    const first = connectTcp();
    await once(first, "connect");
    const others = await Promise.all(Array.from({ length: 18 }, () => connectSecurely()));
    await expectServed();
    await closed(first);
    expect(streaming.destroyed).toBe(false);
    expect(others.filter(({ destroyed }) => destroyed)).toHaveLength(0);
  });

  it("refuses a connection when all that it has are in use", async () => {
    await listen({ maxConnections: 2 });
    const used = [await connectSecurely(), await connectSecurely()];
    for (const [index, socket] of used.entries()) {
      socket.write(`GET /stream HTTP/1.1\r\n${HEADERS}Authorization: known ${index}\r\n\r\n`);
      await once(socket, "data");
    }
    await closed(connectTcp());
    used[0]?.destroy();
    await new Promise((resolve) => writers[0]?.signal.addEventListener("abort", resolve));
    await expectServed();
  });

  it("refuses headers that are too long, in either version", async () => {
    await listen({ maxHeaderBytes: 4096 });
    const socket = await connectSecurely();
    socket.write(`GET / HTTP/1.1\r\n${HEADERS}X-Long: ${"x".repeat(5000)}\r\n\r\n`);
    const [chunk] = await once(socket, "data");
    expect(String(chunk)).toMatch(/^HTTP\/1.1 431 /);
    const session = connectHttp2(`https://127.0.0.1:${server.port}`, { ca: certificates.authority.certificatePem });
    session.on("error", () => undefined);
    const stream = session.request({ ":path": "/", "x-long": "x".repeat(5000) }).on("error", () => undefined);
    const [headers] = await once(stream, "response");
    expect(headers).toMatchObject({ ":status": 431 });
    session.destroy();
    await expectServed();
  });

  it("ends without waiting for those who have not greeted", async () => {
    await listen({});
    const socket = connectTcp();
    await once(socket, "connect");
    await server.close();
    await closed(socket);
  });
});
