import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { type Duplex, Readable } from "node:stream";
import { connect as connectTls } from "node:tls";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { HttpHandler, HttpServer, HttpServerOptions } from "../../src/host/http-server.ts";
import { callUpgrade } from "../../src/host/linux/network/call-upgrade.ts";
import { listenHttp } from "../../src/host/linux/network/listen-http.ts";
import { joinStreams } from "../../src/host/upgrade-call.ts";
import { END_HEADERS, END_STREAM, FRAME, type Frame, frameBytes, literal, PREFACE } from "./api/http2-frames.ts";
import { issueLoopbackCertificate, webOptions } from "./loopback-certificate.ts";

/** Each case is repeated with a reset some turns of the event loop later, because a phase ends when it likes. */
const TURNS = [0, 1, 2, 3, 5, 8, 20];
const CHUNK = Buffer.alloc(64 * 1024, "x");
const LONG = Buffer.alloc(16 * 1024 * 1024, "x");

/** The kinds of answers, by path. */
const handler: HttpHandler = async (request) => {
  const { path, signal } = request;
  if (path === "/body") return { status: 200, body: String((await request.readBody(LONG.length)).length) };
  if (path === "/pass-on") return { status: 200, body: { source: request.bodyStream() ?? Readable.from([]) } };
  if (path === "/long") return { status: 200, body: LONG };
  if (path === "/pieces") return { status: 200, body: Array(64).fill(CHUNK) };
  if (path === "/source") return { status: 200, body: { source: Readable.from(endless()) } };
  if (path === "/upgrade") return { status: 101, body: { takeOver: async (socket) => await echo(socket) } };
  if (path === "/joined") {
    const server = { scheme: "http", host: "127.0.0.1", port: Number(request.query.get("port")), target: "/" } as const;
    const headers = { connection: "Upgrade", upgrade: "test" };
    const result = await callUpgrade({ ...server, method: "GET", headers }, signal);
    if (result.kind === "answered") return { status: result.status, body: { source: result.body } };
    const takeOver = async (socket: Duplex) => {
      socket.write(SWITCHED);
      await joinStreams(socket, result.socket, {}, signal);
    };
    return { status: 101, body: { takeOver } };
  }
  if (path === "/produce") {
    const produce = async ({ write }: { write(chunk: Buffer): Promise<void> }) => {
      for (;;) await write(CHUNK);
    };
    return { status: 200, body: { produce } };
  }
  if (path === "/stream") {
    return {
      status: 200,
      body: {
        stream(writer) {
          const write = () => {
            if (writer.signal.aborted) return;
            if (writer.bufferedBytes < LONG.length) writer.write(CHUNK);
            setImmediate(write);
          };
          write();
        },
      },
    };
  }
  if (path === "/never") await once(signal, "abort");
  return { status: 200, body: "served\n" };
};

function* endless(): Generator<Buffer> {
  for (;;) yield CHUNK;
}

const SWITCHED = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: test\r\n\r\n";

async function echo(socket: Duplex): Promise<void> {
  socket.write(SWITCHED);
  socket.pipe(socket);
  await new Promise((resolve) => socket.once("close", resolve));
}

const get = (path: string, more = "") => `GET ${path} HTTP/1.1\r\nHost: x\r\n${more}\r\n`;
const post = (path: string, more = "") =>
  `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n${more}\r\nbeginning`;
const UPGRADE = "Connection: Upgrade\r\nUpgrade: test\r\n";
const ANSWERS = ["/", "/never", "/long", "/pieces", "/source", "/produce", "/stream"];

/** What the peer says before it resets the connection. */
const HTTP1_PHASES: ReadonlyArray<readonly [string, string]> = [
  ["nothing", ""],
  ["a part of a head", "GET / HTTP/1.1\r\nHost:"],
  ["a head that is none", "\0\0\r\n\r\n"],
  ...ANSWERS.map((path): [string, string] => [`GET ${path}`, get(path)]),
  ...ANSWERS.map((path): [string, string] => [`an upgrade of ${path}`, get(path, UPGRADE)]),
  ["an upgrade", get("/upgrade", UPGRADE)],
  ["an upgrade, and more", `${get("/upgrade", UPGRADE)}${"x".repeat(100_000)}`],
  ["a part of a body", post("/body")],
  ["a part of a body that is passed on", post("/pass-on")],
  ["a part of a body in chunks", `POST /body HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabc`],
  ["a chunk that is none", `POST /body HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nabc`],
  ["that it expects to go on", post("/body", "Expect: 100-continue\r\n")],
  ["that it expects what nobody knows", post("/body", "Expect: the worst\r\n")],
  ["that it wants a tunnel", "CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n"],
  ["several requests at a time", `${get("/long")}${get("/stream")}${get("/never")}`],
];

const headers = (fields: readonly Buffer[], flags = END_HEADERS | END_STREAM): Frame => {
  return { type: FRAME.headers, flags, stream: 1, payload: Buffer.concat(fields) };
};
const asked = (method: string, path: string) => [
  ...[literal(":method", method), literal(":scheme", "https"), literal(":path", path), literal(":authority", "x")],
];
const tunnel = [literal(":method", "CONNECT"), literal(":authority", "x:1")];
const reset = (code: number): Frame => ({ type: FRAME.reset, stream: 1, payload: Buffer.from([0, 0, 0, code]) });
const WINDOW: Frame = { type: FRAME.window, payload: Buffer.from([0x7f, 0, 0, 0]) };

const HTTP2_PHASES: ReadonlyArray<readonly [string, readonly Frame[]]> = [
  ["nothing", []],
  ...ANSWERS.map((path): [string, Frame[]] => [`GET ${path}`, [headers(asked("GET", path)), WINDOW]]),
  ["a part of a body", [headers(asked("POST", "/body"), END_HEADERS), { type: FRAME.data, stream: 1 }]],
  ["a part of a body that is passed on", [headers(asked("POST", "/pass-on"), END_HEADERS)]],
  ["that it expects to go on", [headers([...asked("POST", "/body"), literal("expect", "100-continue")], END_HEADERS)]],
  ["that it expects what nobody knows", [headers([...asked("POST", "/body"), literal("expect", "x")], END_HEADERS)]],
  ["that it wants a tunnel", [headers(tunnel, END_HEADERS)]],
  ["a frame that is none", [{ type: FRAME.window, stream: 1, payload: Buffer.alloc(2) }]],
];

/** A stream is taken back with every code that there is, and some that there are not. */
const RESET_CODES = [0, 1, 2, 5, 7, 8, 11, 13, 99];

describe.each(["plain", "TLS"])("a server of %s HTTP, whose clients reset their connections", (kind) => {
  let server: HttpServer;
  let ca = "";
  const failures: unknown[] = [];
  const onFailure = (error: unknown) => failures.push(error);
  const sockets: Socket[] = [];

  beforeAll(async () => {
    process.on("uncaughtException", onFailure).on("unhandledRejection", onFailure);
    const certificates = await issueLoopbackCertificate();
    ca = certificates.authority.certificatePem;
    const plain: HttpServerOptions = { at: { address: "127.0.0.1", port: 0 } };
    server = await listenHttp(kind === "plain" ? plain : webOptions(certificates), handler);
  });
  afterEach(() => {
    for (const socket of sockets.splice(0)) socket.destroy();
  });
  afterAll(async () => {
    await server.close();
    process.off("uncaughtException", onFailure).off("unhandledRejection", onFailure);
  });

  /** The connection, and the TCP connection below it. */
  async function open(protocol = "http/1.1"): Promise<{ tcp: Socket; socket: Socket }> {
    const tcp = connect(server.port, "127.0.0.1").on("error", () => undefined);
    sockets.push(tcp);
    await once(tcp, "connect");
    if (kind === "plain") return { tcp, socket: tcp };
    const socket = connectTls({ socket: tcp, host: "127.0.0.1", ca, ALPNProtocols: [protocol] }).on(
      "error",
      () => undefined,
    );
    await once(socket, "secureConnect");
    return { tcp, socket };
  }

  async function turns(count: number): Promise<void> {
    for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve));
  }

  async function expectServed(): Promise<void> {
    const { socket } = await open();
    socket.write(get("/"));
    const [chunk] = await once(socket, "data");
    expect(String(chunk)).toContain("200 OK");
    expect(failures).toEqual([]);
  }

  it.each(HTTP1_PHASES)("goes on after %s", async (_what, text) => {
    for (const count of TURNS) {
      const { tcp, socket } = await open();
      await new Promise((resolve) => socket.write(text, resolve));
      await turns(count);
      tcp.resetAndDestroy();
    }
    await expectServed();
  });

  it.each([
    ["nothing", ""],
    ["a part of a head", "HTTP/1.1 101 Switch"],
    ["a head that is none", "\0\0\r\n\r\n"],
    ["that it agrees", SWITCHED],
    ["that it agrees, and more", `${SWITCHED}${"x".repeat(1_000_000)}`],
    ["a part of a refusal", "HTTP/1.1 400 Bad Request\r\nContent-Length: 100\r\n\r\nno"],
  ])("goes on after the server of a stream has said %s and resets it", async (_what, text) => {
    for (const count of TURNS) {
      const behind = createServer((socket) => {
        socket.on("error", () => undefined);
        socket.once("data", () => socket.write(text, () => void turns(count).then(() => socket.resetAndDestroy())));
      });
      await new Promise<void>((resolve) => behind.listen(0, "127.0.0.1", resolve));
      const address = behind.address();
      const port = typeof address === "object" ? address?.port : undefined;
      const { socket } = await open();
      socket.on("error", () => undefined);
      socket.write(get(`/joined?port=${port}`, UPGRADE));
      socket.resume();
      await new Promise((resolve) => socket.once("close", resolve));
      await new Promise((resolve) => behind.close(resolve));
    }
    await expectServed();
  });

  it.runIf(kind === "TLS")("goes on after a part of a greeting", async () => {
    for (const bytes of [[22, 3, 1, 64, 0], [22, 3, 1, 0, 5, 1, 0, 0, 1, 0], [0x47]]) {
      const tcp = connect(server.port, "127.0.0.1").on("error", () => undefined);
      await once(tcp, "connect");
      await new Promise((resolve) => tcp.write(Buffer.from(bytes), resolve));
      tcp.resetAndDestroy();
    }
    await expectServed();
  });

  describe.runIf(kind === "TLS").each(HTTP2_PHASES)("over HTTP/2, after %s", (_what, frames) => {
    const send = async (socket: Socket, sent: readonly Frame[]) => {
      const bytes = [PREFACE, ...[{ type: FRAME.settings }, ...sent].map(frameBytes)];
      await new Promise((resolve) => socket.write(Buffer.concat(bytes), resolve));
    };

    it("goes on", async () => {
      for (const count of TURNS) {
        const { tcp, socket } = await open("h2");
        await send(socket, frames);
        await turns(count);
        tcp.resetAndDestroy();
      }
      await expectServed();
    });

    it("goes on when the stream is reset", async () => {
      for (const code of RESET_CODES) {
        for (const count of [0, 5]) {
          const { tcp, socket } = await open("h2");
          await send(socket, frames);
          await turns(count);
          await new Promise((resolve) => socket.write(frameBytes(reset(code)), resolve));
          await turns(count);
          tcp.resetAndDestroy();
        }
      }
      await expectServed();
    });
  });
});
