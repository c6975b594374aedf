import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { connect as connectTls, type TLSSocket } from "node:tls";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { type ApiClient, type Credentials, createApiClient } from "./client.ts";
import { type ApiServerUnderTest, apiServersUnderTest } from "./harness.ts";
import {
  END_HEADERS,
  END_STREAM,
  FRAME,
  type Frame,
  frameBytes,
  literal,
  NEWEST_REMEMBERED,
  PREFACE,
  remembered,
  requestOf,
} from "./http2-frames.ts";
import type { StartedApiServer } from "./kube-apiserver.ts";

/** Another client is answered within it, whatever goes on; a busy machine takes a hundred times as long as an idle one. */
const ANSWER_MS = 5_000;
/** What is sent of a flood unless the server hangs up before; enough that what is kept of it would show. */
const FLOOD_BYTES = 32 * 1024 * 1024;
const MAX_GROWTH_BYTES = 256 * 1024 * 1024;
const STALL_MS = 2_000;
const IDLE_CONNECTIONS = 1_000;
const WINDOW = Buffer.from([0x7f, 0xff, 0, 0]);

const opened = (path: string, stream: number, flags = END_HEADERS | END_STREAM): Frame => {
  return { type: FRAME.headers, flags, stream, payload: requestOf(path) };
};
const BIG_HEADER = literal("x-flood", "y".repeat(16_000));

/** Each is what one client sends for as long as the server lets it; none of them has a name or a certificate. */
const FLOODS: readonly {
  name: string;
  isCut: boolean;
  first?: readonly Frame[];
  next(index: number): readonly Frame[];
}[] = [
  {
    name: "requests that are taken back at once (CVE-2019-9514, CVE-2023-44487)",
    isCut: true,
    next: (index) => [
      opened("/version", 2 * index + 1),
      { type: FRAME.reset, stream: 2 * index + 1, payload: Buffer.from([0, 0, 0, 8]) },
    ],
  },
  {
    name: "headers that go on for ever (CVE-2024-27316)",
    isCut: true,
    first: [{ type: FRAME.headers, stream: 1, payload: requestOf("/version") }],
    next: () => [{ type: FRAME.continuation, stream: 1, payload: BIG_HEADER }],
  },
  {
    name: "headers that go on for ever and say nothing",
    isCut: true,
    first: [{ type: FRAME.headers, stream: 1, payload: requestOf("/version") }],
    next: () => [{ type: FRAME.continuation, stream: 1 }],
  },
  {
    name: "headers that stand for thousands of times their size",
    isCut: false,
    next: (index) => [
      {
        type: FRAME.headers,
        flags: END_HEADERS | END_STREAM,
        stream: 2 * index + 1,
        payload: Buffer.concat([
          requestOf("/version"),
          remembered("x-bomb", "y".repeat(3_900)),
          Buffer.alloc(10_000, NEWEST_REMEMBERED),
        ]),
      },
    ],
  },
  { name: "settings (CVE-2019-9515)", isCut: true, next: () => [{ type: FRAME.settings }] },
  {
    name: "pings (CVE-2019-9512)",
    // Node.js 20 lives with it.
    isCut: !process.version.startsWith("v20."),
    next: () => [{ type: FRAME.ping, payload: Buffer.alloc(8) }],
  },
  {
    name: "more streams than are allowed",
    isCut: true,
    next: (index) => [opened("/version", 2 * index + 1, END_HEADERS)],
  },
  {
    name: "data without any (CVE-2019-9518)",
    isCut: true,
    first: [opened("/version", 1, END_HEADERS)],
    next: () => [{ type: FRAME.data, stream: 1 }],
  },
];

describe.each(apiServersUnderTest())("hostile connections, to $name", (candidate: ApiServerUnderTest) => {
  let server: StartedApiServer;
  let admin: ApiClient;
  let anonymous: Credentials;
  const sockets: Socket[] = [];

  beforeAll(async () => {
    server = await candidate.start();
    admin = createApiClient(server.admin);
    anonymous = { url: server.admin.url, caPem: server.admin.caPem };
  });
  afterEach(() => {
    for (const socket of sockets.splice(0)) socket.destroy();
  });
  afterAll(async () => {
    admin.close();
    await server.stop();
  });

  const address = () => ({ host: "127.0.0.1", port: Number(new URL(anonymous.url).port) });

  function connectTcp(): Socket {
    const socket = connect(address()).on("error", () => undefined);
    sockets.push(socket);
    return socket;
  }

  async function connectSecurely(protocol: string): Promise<TLSSocket> {
    const socket = connectTls({ ...address(), ca: anonymous.caPem, ALPNProtocols: [protocol] });
    socket.on("error", () => undefined);
    sockets.push(socket);
    await once(socket, "secureConnect");
    return socket;
  }

  /** Asked by a client that has no connection yet, and by one that has a connection. */
  async function expectServed(): Promise<void> {
    const begunAt = performance.now();
    const stranger = createApiClient(anonymous);
    const answers = [stranger.json("GET", "/version"), admin.json("GET", "/api/v1/namespaces/default")];
    for (const answer of await Promise.all(answers)) expect(answer.status).toBe(200);
    stranger.close();
    expect(performance.now() - begunAt).toBeLessThan(ANSWER_MS);
  }

  /** Sends until the server hangs up, or so much was sent; reads nothing of what is answered unless asked to. */
  async function flood(socket: TLSSocket, { next }: (typeof FLOODS)[number]): Promise<void> {
    let index = 0;
    while (socket.bytesWritten < FLOOD_BYTES && !socket.destroyed && socket.writable) {
      const frames: Buffer[] = [];
      for (const end = index + 200; index < end; ) for (const frame of next(index++)) frames.push(frameBytes(frame));
      if (!socket.write(Buffer.concat(frames))) await drained(socket);
      if (index > 400_000) return;
    }
  }

  /** A server that reads no more is as good as one that hung up. */
  const drained = (socket: TLSSocket) =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(() => socket.destroy(), STALL_MS);
      const end = () => {
        clearTimeout(timer);
        socket.off("drain", end).off("close", end);
        resolve();
      };
      socket.on("drain", end).on("close", end);
    });

  it("understands these frames, one at a time", async () => {
    const socket = await connectSecurely("h2");
    socket.write(Buffer.concat([PREFACE, frameBytes({ type: FRAME.settings }), frameBytes(opened("/version", 1))]));
    let received = "";
    for await (const chunk of socket) {
      received += String(chunk);
      if (received.includes("gitVersion")) break;
    }
    expect(received).toContain("gitVersion");
  });

  it.each(FLOODS)("outlives $name", async (kind) => {
    const before = process.memoryUsage().rss;
    const socket = await connectSecurely("h2");
    socket.resume();
    let isCut = false;
    socket.once("close", () => {
      isCut = true;
    });
    socket.write(
      Buffer.concat([
        PREFACE,
        frameBytes({ type: FRAME.settings }),
        frameBytes({ type: FRAME.window, payload: WINDOW }),
      ]),
    );
    for (const frame of kind.first ?? []) socket.write(frameBytes(frame));
    const flooding = flood(socket, kind);
    await expectServed();
    await flooding;
    await expectServed();
    // Upstream's library has limits of its own, and some of these it rather lives with.
    if (candidate.isOurs) expect(isCut).toBe(kind.isCut);
    expect(process.memoryUsage().rss - before).toBeLessThan(MAX_GROWTH_BYTES);
  });

  it("serves others beside a thousand connections that say nothing", async () => {
    const quiet = Array.from({ length: IDLE_CONNECTIONS }, connectTcp);
    await Promise.all(quiet.map((socket) => once(socket, "connect")));
    await expectServed();
  });
});
