import { once } from "node:events";
import { connect as connectHttp2 } from "node:http2";
import type { Socket } from "node:net";
import { connect as connectTls, type TLSSocket } from "node:tls";
import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import type { HttpHandler, HttpServer } from "../../src/host/http-server.ts";
import { listenHttp } from "../../src/host/linux/network/listen-http.ts";
import { issueLoopbackCertificate, type LoopbackCertificates, webOptions } from "./loopback-certificate.ts";

const MIB = 1024 * 1024;
const LONG_MS = 600_000;
const LIMITS = { greetingMs: LONG_MS, headersMs: LONG_MS, quietMs: LONG_MS, waitMs: LONG_MS };
/** The clients of one server share it. */
const MAX_HELD_BYTES = 4 * MIB;
const TEXT = "t".repeat(MIB);
const DOCUMENT = Buffer.alloc(32 * MIB, "x");
const WAIT = { timeout: 60_000, interval: 20 };

/** Each client stays within its own limits, and all of them together take what the server's process has. */
describe("many requests that are never over", () => {
  let certificates: LoopbackCertificates;
  let server: HttpServer;
  const sockets: { destroy(): unknown }[] = [];

  beforeAll(async () => {
    certificates = await issueLoopbackCertificate();
  });
  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy();
    await server.close();
  });

  const handler: HttpHandler = async (request) => {
    const [user] = request.header("authorization");
    if (user !== undefined) request.vouch(user);
    if (request.path === "/document") return { status: 200, body: DOCUMENT };
    if (request.path === "/text") return { status: 200, body: TEXT };
    const body = request.method === "POST" ? await request.readBody(3 * MIB) : "";
    return { status: 200, body: `${body.length} bytes\n` };
  };

  async function listen(): Promise<void> {
    const limits = { ...LIMITS, maxHeldBytes: MAX_HELD_BYTES, maxHeadBytes: MIB };
    server = await listenHttp({ ...webOptions(certificates), limits }, handler);
  }

  async function open(): Promise<TLSSocket> {
    const ca = certificates.authority.certificatePem;
    const socket = connectTls({ host: "127.0.0.1", port: server.port, ca, ALPNProtocols: ["http/1.1"] });
    socket.on("error", () => undefined);
    sockets.push(socket);
    await once(socket, "secureConnect");
    return socket;
  }

  async function answerOf(socket: Socket, text: string): Promise<string> {
    const answered = once(socket, "data");
    socket.write(text);
    return String((await answered)[0]);
  }

  /** Sends a body up to its last byte. */
  async function beginBody(user: string, bytes: number): Promise<TLSSocket> {
    const socket = await open();
    socket.write(`POST / HTTP/1.1\r\nHost: x\r\nAuthorization: ${user}\r\nContent-Length: ${bytes}\r\n\r\n`);
    socket.write(Buffer.alloc(bytes - 1, "x"));
    return socket;
  }

  it("of bodies: whoever sends most of them loses theirs, and others end theirs", async () => {
    await listen();
    const modest = await beginBody("modest", MIB);
    const greedy: TLSSocket[] = [];
    for (let count = 0; count < 12; count++) greedy.push(await beginBody("greedy", MIB));
    await vi.waitFor(() => expect(greedy.filter(({ closed }) => closed).length).toBeGreaterThanOrEqual(9), WAIT);
    expect(await answerOf(modest, "x")).toContain(`${MIB} bytes`);
    expect(await answerOf(await open(), "GET / HTTP/1.1\r\nHost: x\r\n\r\n")).toContain("200 OK");
  });

  it("of heads: whoever asks for ever and reads no answer loses the connection", async () => {
    await listen();
    const modest = await beginBody("modest", 1_000);
    const options = { ca: certificates.authority.certificatePem, settings: { initialWindowSize: 0 } };
    const session = connectHttp2(`https://127.0.0.1:${server.port}`, options).on("error", () => undefined);
    sockets.push(session);
    await once(session, "remoteSettings");
    for (let count = 0; count < 200 && !session.closed; count++) {
      // What HPACK could take from its table would cost the client nothing.
      const head = Array.from({ length: 10 }, (_, index) => [`x-${index}`, `${count} ${index} `.padEnd(4_000, "y")]);
      session.request({ ":path": "/", ...Object.fromEntries(head) }).on("error", () => undefined);
    }
    await vi.waitFor(() => expect(session.destroyed).toBe(true), WAIT);
    expect(await answerOf(modest, "x")).toContain("1000 bytes");
  });

  it("of heads that do not end: whoever sends most of them loses connections, and others end theirs", async () => {
    await listen();
    const modest = await open();
    expect(await answerOf(modest, "GET / HTTP/1.1\r\nHost: x\r\nAuthorization: modest\r\n\r\n")).toContain("200 OK");
    modest.write("GET / HTTP/1.1\r\nHost: x\r\n");
    const greedy: TLSSocket[] = [];
    for (let count = 0; count < 40; count++) {
      const socket = await open();
      socket.write(`GET / HTTP/1.1\r\nHost: x\r\nX-Long: ${"x".repeat(60_000)}`);
      greedy.push(socket);
    }
    await vi.waitFor(() => expect(greedy.filter(({ closed }) => !closed).length).toBeLessThanOrEqual(17), WAIT);
    expect(greedy.filter(({ closed }) => !closed).length).toBeGreaterThan(10);
    expect(await answerOf(modest, "\r\n")).toContain("200 OK");
  });

  it("of answers: whoever reads none of their texts loses the connection", async () => {
    await listen();
    const modest = await beginBody("modest", 1_000);
    const options = { ca: certificates.authority.certificatePem, settings: { initialWindowSize: 0 } };
    const session = connectHttp2(`https://127.0.0.1:${server.port}`, options).on("error", () => undefined);
    sockets.push(session);
    await once(session, "remoteSettings");
    for (let count = 0; count < 20; count++) session.request({ ":path": "/text" }).on("error", () => undefined);
    await vi.waitFor(() => expect(session.destroyed).toBe(true), WAIT);
    expect(await answerOf(modest, "x")).toContain("1000 bytes");
  });

  it("of answers: those who do not read one document share its memory", async () => {
    await listen();
    const before = process.memoryUsage().rss;
    for (let count = 0; count < 16; count++) {
      const socket = await open();
      socket.pause();
      socket.write("GET /document HTTP/1.1\r\nHost: x\r\n\r\n");
    }
    const reader = await open();
    reader.write("GET /document HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    let received = 0;
    reader.on("data", ({ length }: Buffer) => {
      received += length;
    });
    await once(reader, "close");
    expect(received).toBeGreaterThan(DOCUMENT.length);
    expect(process.memoryUsage().rss - before).toBeLessThan(8 * DOCUMENT.length);
  });
});
