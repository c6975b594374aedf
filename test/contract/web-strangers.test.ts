import { once } from "node:events";
import { connect, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { connect as connectTls } from "node:tls";
import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import type { HttpHandler, HttpServer, HttpServerOptions } from "../../src/host/http-server.ts";
import { listenHttp } from "../../src/host/linux/network/listen-http.ts";
import { issueLoopbackCertificate, type LoopbackCertificates, webOptions } from "./loopback-certificate.ts";

/** Strangers have an address of their own, as a pod that attacks its node has. */
const STRANGER = "127.0.0.2";
const LONG_MS = 600_000;
const LIMITS = { greetingMs: LONG_MS, headersMs: LONG_MS, quietMs: LONG_MS, waitMs: LONG_MS };
const tokenOf = (user: string) => `Authorization: Bearer ${user}\r\n`;
const TOKEN = tokenOf("good");
const UPGRADE = "Connection: Upgrade\r\nUpgrade: test\r\n";

const get = (path: string, headers = "") => `GET ${path} HTTP/1.1\r\nHost: x\r\n${headers}\r\n`;

/** Whoever has a good token is known; the identity of everybody else takes for ever to find out. */
const handler: HttpHandler = async (request) => {
  const [, user] = /^Bearer (good.*)$/.exec(request.header("authorization")[0] ?? "") ?? [];
  if (user !== undefined) request.vouch(user);
  else if (request.method === "POST") await request.readBody(1_000_000);
  else if (request.path === "/asks-elsewhere") await once(request.signal, "abort");
  if (request.isUpgrade) return { status: 101, body: { takeOver: echo } };
  return { status: 200, body: "served\n" };
};

async function echo(socket: Duplex): Promise<void> {
  socket.write(`HTTP/1.1 101 Switching Protocols\r\n${UPGRADE}\r\n`);
  socket.pipe(socket);
  await new Promise((resolve) => socket.once("close", resolve));
}

const SERVERS = [
  { name: "a node's API", isSecure: true, http2: false },
  { name: "an API server", isSecure: true, http2: true },
  { name: "a node's plain pages", isSecure: false, http2: false },
];

/** As many as a node's API has. */
const MANY = 1024;
/** For what does not depend on the number: each connection costs the handshakes of both ends. */
const FEW = 64;

/** How far a stranger goes, and stays: the handshake of TLS or not, then this text. */
const STRANGERS: ReadonlyArray<readonly [what: string, maxConnections: number, greets: boolean, text: string]> = [
  ["never greet", MANY, false, ""],
  ["ask nothing", MANY, true, ""],
  ["never end their headers", FEW, true, "GET / HTTP/1.1\r\nHost: x\r\n"],
  ["never end their bodies", FEW, true, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nx"],
  ["show a token that takes for ever to look at", FEW, true, get("/asks-elsewhere", "Authorization: Bearer bad\r\n")],
  ["are quiet after an answer", FEW, true, get("/")],
];

describe.each(SERVERS)("$name, full of strangers", ({ isSecure, http2 }) => {
  let certificates: LoopbackCertificates;
  let server: HttpServer;
  const sockets: Socket[] = [];

  beforeAll(async () => {
    certificates = await issueLoopbackCertificate();
  });
  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy();
    await server.close();
  });

  async function listen(maxConnections: number, maxStrangers = maxConnections): Promise<void> {
    const limits = { ...LIMITS, maxConnections, maxStrangers };
    const plain: HttpServerOptions = { at: { address: "0.0.0.0", port: 0 }, limits };
    const options = isSecure ? { ...webOptions(certificates), ...plain, http2 } : plain;
    server = await listenHttp(options, handler);
  }

  async function open(localAddress: string, greets = true): Promise<Socket> {
    const tcp = connect({ host: "127.0.0.1", port: server.port, localAddress }).on("error", () => undefined);
    sockets.push(tcp);
    await once(tcp, "connect");
    if (!isSecure || !greets) return tcp;
    const ca = certificates.authority.certificatePem;
    const tls = connectTls({ socket: tcp, host: "127.0.0.1", ca, ALPNProtocols: ["http/1.1"] });
    tls.on("error", () => undefined);
    sockets.push(tls);
    // A stranger may have to make room for the next before its handshake is over.
    await Promise.race([once(tls, "secureConnect"), new Promise((resolve) => tls.once("close", resolve))]);
    return tls;
  }

  async function say(socket: Socket, text: string): Promise<string> {
    const answered = once(socket, "data");
    socket.write(text);
    const [chunk] = await answered;
    return String(chunk);
  }

  it.each(STRANGERS)(
    "who %s, answers those whom it knows and those who are new",
    async (_what, maxConnections, greets, text) => {
      await listen(maxConnections);
      const known = await open("127.0.0.1");
      expect(await say(known, get("/", TOKEN))).toContain("200 OK");
      const stream = await open("127.0.0.1");
      expect(await say(stream, get("/exec", `${TOKEN}${UPGRADE}`))).toContain("101 Switching");
      for (let count = 0; count < maxConnections + 16; count++) {
        const stranger = await open(STRANGER, greets);
        if (text !== "") stranger.write(text);
      }
      const newcomer = await open("127.0.0.1");
      expect(await say(newcomer, get("/"))).toContain("200 OK");
      expect(await say(stream, "still here")).toBe("still here");
      expect(await say(known, get("/", TOKEN))).toContain("200 OK");
    },
  );

  it("closes those of the address that has most of them", async () => {
    await listen(FEW);
    const modest = await open("127.0.0.3");
    for (let count = 0; count < FEW + 16; count++) await open(STRANGER, false);
    expect(await say(modest, get("/"))).toContain("200 OK");
  });

  it("keeps fewer of them than it has places", async () => {
    await listen(FEW, FEW / 4);
    const strangers: Socket[] = [];
    const known: Socket[] = [];
    for (let count = 0; count < FEW / 2; count++) {
      strangers.push(await open(STRANGER, false));
      strangers.at(-1)?.resume();
      known.push(await openStream("good"));
    }
    const isOpen = ({ closed }: Socket) => !closed;
    // Each client whom the server knows was a stranger at first, and took a place.
    await vi.waitFor(() => expect(strangers.filter(isOpen)).toHaveLength(FEW / 4 - 1), { timeout: 60_000 });
    for (const stream of known) expect(await say(stream, "still here")).toBe("still here");
  });

  async function openStream(user: string): Promise<Socket> {
    const stream = await open("127.0.0.1");
    expect(await say(stream, get("/exec", `${tokenOf(user)}${UPGRADE}`))).toContain("101 Switching");
    return stream;
  }

  it("lets nobody keep all others out, however well known", async () => {
    await listen(FEW);
    const modest = await openStream("good, and modest");
    const greedy: Socket[] = [];
    for (let count = 1; count < FEW; count++) greedy.push(await openStream("good, and greedy"));
    const newcomer = await openStream("good, and late");
    const [oldest, ...others] = greedy;
    await vi.waitFor(() => expect(oldest?.destroyed).toBe(true), { timeout: 60_000 });
    for (const stream of [modest, newcomer, ...others]) expect(await say(stream, "still here")).toBe("still here");
  });

  it("never closes the only stream of a client whom it knows, and refuses others when it has no other", async () => {
    await listen(FEW);
    const streams: Socket[] = [];
    for (let count = 0; count < FEW; count++) streams.push(await openStream(`good ${count}`));
    const refused = await open(STRANGER, false);
    refused.resume();
    if (!refused.closed) await new Promise((resolve) => refused.once("close", resolve));
    for (const stream of streams) expect(await say(stream, "still here")).toBe("still here");
  });
});
