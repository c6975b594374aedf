import { once } from "node:events";
import type { Socket } from "node:net";
import { connect as connectTls, type TLSSocket } from "node:tls";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import type { AnswerWriter, HttpServer } from "../../src/host/http-server.ts";
import { listenHttp } from "../../src/host/linux/network/listen-http.ts";
import {
  END_HEADERS,
  END_STREAM,
  FRAME,
  type Frame,
  frameBytes,
  literal,
  PREFACE,
  requestOf,
} from "./api/http2-frames.ts";
import { issueLoopbackCertificate, type LoopbackCertificates, webOptions } from "./loopback-certificate.ts";

const ANSWER = Buffer.alloc(1024 * 1024, "x");
/** What is sent of a flood unless the server hangs up before. */
const FLOOD_BYTES = 32 * 1024 * 1024;
/** A server that takes nothing for so long takes nothing more. */
const STALL_MS = 2_000;
const MAX_STREAMS = 100;
const LARGEST_WINDOW = Buffer.from([0x7f, 0xff, 0, 0]);
/** SETTINGS_INITIAL_WINDOW_SIZE of 2^31-1 bytes. */
const OPEN_STREAM_WINDOWS = Buffer.from([0, 4, 0x7f, 0xff, 0xff, 0xff]);

const asked = (path: string, index: number, more: Buffer = Buffer.alloc(0)): Frame => {
  const payload = Buffer.concat([requestOf(path), more]);
  return { type: FRAME.headers, flags: END_HEADERS | END_STREAM, stream: 2 * index + 1, payload };
};

/** Each is what one client sends that reads none of what it causes. */
describe("a client of HTTP/2 that reads nothing", () => {
  let certificates: LoopbackCertificates;
  let server: HttpServer;
  let made = 0;
  const writers: AnswerWriter[] = [];
  const sockets: Socket[] = [];

  beforeAll(async () => {
    certificates = await issueLoopbackCertificate();
  });
  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy();
    writers.length = 0;
    await server.close();
  });

  async function listen(): Promise<void> {
    made = 0;
    const options = {
      ...webOptions(certificates),
      limits: { maxStreams: MAX_STREAMS, maxStrangersStreams: MAX_STREAMS },
    };
    server = await listenHttp(options, async ({ path }) => {
      made++;
      const answer = { status: 200, headers: {} };
      if (path === "/stream") return { ...answer, body: { stream: (writer) => void writers.push(writer) } };
      return { ...answer, body: path === "/big" ? Buffer.from(ANSWER) : "served\n" };
    });
  }

  async function connect(): Promise<TLSSocket> {
    const ca = certificates.authority.certificatePem;
    const socket = connectTls({ host: "127.0.0.1", port: server.port, ca, ALPNProtocols: ["h2"] });
    socket.on("error", () => undefined);
    sockets.push(socket);
    await once(socket, "secureConnect");
    socket.pause();
    const opening = [
      { type: FRAME.settings, payload: OPEN_STREAM_WINDOWS },
      { type: FRAME.window, payload: LARGEST_WINDOW },
    ];
    socket.write(Buffer.concat([PREFACE, ...opening.map(frameBytes)]));
    return socket;
  }

  /** Sends until the server takes no more, hangs up, or so much was sent. */
  async function flood(socket: TLSSocket, next: (index: number) => Frame): Promise<void> {
    for (let index = 0; socket.writable && socket.bytesWritten < FLOOD_BYTES; ) {
      const frames = Array.from({ length: 500 }, () => frameBytes(next(index++)));
      if (socket.write(Buffer.concat(frames))) continue;
      const isTaken = await new Promise<boolean>((resolve) => {
        const timer = setTimeout(() => resolve(false), STALL_MS);
        const settle = (taken: boolean) => {
          clearTimeout(timer);
          resolve(taken);
        };
        socket.once("drain", () => settle(true)).once("close", () => settle(false));
      });
      if (!isTaken) return;
    }
  }

  async function expectServed(): Promise<void> {
    const socket = await connect();
    socket.write(frameBytes(asked("/small", 0)));
    let received = "";
    socket.on("data", (chunk) => {
      received += String(chunk);
    });
    socket.resume();
    await expect.poll(() => received, { timeout: 60_000 }).toContain("served");
  }

  it.each<[name: string, next: (index: number) => Frame]>([
    ["pings (CVE-2019-9512)", () => ({ type: FRAME.ping, payload: Buffer.alloc(8) })],
    ["sends settings (CVE-2019-9515)", () => ({ type: FRAME.settings })],
    ["asks for what is reset (CVE-2019-9514)", (index) => asked("/small", index, literal("connection", "close"))],
    ["asks for large answers with open windows (CVE-2019-9517)", (index) => asked("/big", index)],
  ])("and %s: memory is bounded, and others are served", async (_name, next) => {
    await listen();
    const before = process.memoryUsage().rss;
    await flood(await connect(), next);
    await expectServed();
    // Each answer that was begun belongs to one of the streams that a client may have.
    expect(made).toBeLessThanOrEqual(MAX_STREAMS + 1);
    expect(process.memoryUsage().rss - before).toBeLessThan(MAX_STREAMS * ANSWER.length + 256 * 1024 * 1024);
  });

  it("and streams: what waits for it is counted to the byte, so that its writer can end it", async () => {
    await listen();
    const socket = await connect();
    socket.write(frameBytes(asked("/stream", 0)));
    await expect.poll(() => writers.length, { timeout: 60_000 }).toBe(1);
    const [writer] = writers;
    let written = 0;
    for (; (writer?.bufferedBytes ?? 0) < 16 * ANSWER.length && written < 256; written++) {
      writer?.write(ANSWER);
      await new Promise((resolve) => setImmediate(resolve));
    }
    // Some of it is in the buffers of the kernel and of HTTP/2, the rest is known to be held here.
    expect(writer?.bufferedBytes).toBeGreaterThanOrEqual(16 * ANSWER.length);
    expect(written).toBeLessThan(64);
    socket.destroy();
    await expect.poll(() => writer?.signal.aborted, { timeout: 60_000 }).toBe(true);
  });
});
