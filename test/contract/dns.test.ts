import { createSocket } from "node:dgram";
import { connect, createServer } from "node:net";
import { decode, encode } from "dns-packet";
import { afterEach, describe, expect, it } from "vitest";
import { silentLog } from "../../src/base/log.ts";
import { createMetrics } from "../../src/base/metrics.ts";
import { answerWith, questionFor } from "../../src/dns/__fixtures__/messages.ts";
import { type RunningDns, runDns } from "../../src/dns/run-dns.ts";
import type { DnsHandler, DnsLimits, DnsServer } from "../../src/host/dns-port.ts";
import { callDns } from "../../src/host/linux/network/call-dns.ts";
import { frameMessage } from "../../src/host/linux/network/dns-frames.ts";
import { listenDns } from "../../src/host/linux/network/listen-dns.ts";
import { systemClock } from "../../src/host/linux/system/system-clock.ts";

const open: Array<() => Promise<unknown>> = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

async function listen(handle: DnsHandler, limits: Partial<DnsLimits> = {}): Promise<DnsServer> {
  const bugs: unknown[] = [];
  const options = { address: "127.0.0.1", port: 0, limits, onBug: (error: unknown) => void bugs.push(error) };
  const server = await listenDns(options, handle);
  open.push(async () => {
    await server.close();
    expect(bugs).toEqual([]);
  });
  return server;
}

const honest: DnsHandler = (message) => answerWith(message, { addresses: ["192.0.2.80"] });
const NEVER = new AbortController().signal;
const LONG_MS = 60_000;

const callFor = (port: number, transport: "udp" | "tcp", message: Buffer) => ({
  ...{ address: "127.0.0.1", port, transport, message, timeoutMs: LONG_MS, signal: NEVER },
  isAnswer: (answer: Buffer) => answer.readUInt16BE(0) === message.readUInt16BE(0),
});

describe.each(["udp", "tcp"] as const)("a server over %s", (transport) => {
  it("answers at once or later", async () => {
    const { port } = await listen(honest);
    const now = await callDns(callFor(port, transport, questionFor("a.example")));
    expect(decode(now).answers).toMatchObject([{ data: "192.0.2.80" }]);
    const slow = await listen(async (message, peer) => await honest(message, peer));
    const later = await callDns(callFor(slow.port, transport, questionFor("a.example")));
    expect(decode(later).answers).toMatchObject([{ data: "192.0.2.80" }]);
  });

  it("is given up when the caller stops", async () => {
    const { port } = await listen(async () => await new Promise<undefined>(() => undefined));
    const stop = new AbortController();
    const asked = callDns({ ...callFor(port, transport, questionFor("a.example")), signal: stop.signal });
    stop.abort();
    await expect(asked).rejects.toMatchObject({ name: "AbortError" });
  });

  it("that is not there is told", async () => {
    const server = await listen(honest);
    await server.close();
    const asked = callDns({ ...callFor(server.port, transport, questionFor("a.example")), timeoutMs: 1_000 });
    await expect(asked).rejects.toMatchObject({ code: expect.stringMatching(/unreachable|timed-out/) });
  });
});

describe("a server", () => {
  it("answers a connection before the thousand questions that another has sent at once", async () => {
    const seen: string[] = [];
    const { port } = await listen((message, peer) => {
      seen.push(peer.address);
      return honest(message, peer);
    });
    const connectFrom = async (localAddress: string) => {
      const socket = connect({ host: "127.0.0.1", port, localAddress });
      open.push(async () => socket.destroy());
      await new Promise<void>((resolve) => socket.once("connect", () => resolve()));
      return socket;
    };
    const [flood, other] = [await connectFrom("127.0.0.2"), await connectFrom("127.0.0.1")];
    const frame = frameMessage(questionFor("a.example"));
    flood.resume().write(Buffer.concat(Array<Buffer>(1_000).fill(frame)));
    other.write(frame);
    await new Promise<void>((resolve) => other.once("data", () => resolve()));
    expect(seen.indexOf("127.0.0.1")).toBeLessThan(500);
  });

  it("answers one question of a client before a hundred that another has asked", async () => {
    const seen: string[] = [];
    const { port } = await listen((message, peer) => {
      seen.push(peer.address);
      return honest(message, peer);
    });
    const flood = createSocket("udp4");
    const other = createSocket("udp4");
    open.push(async () => await Promise.all([flood, other].map((socket) => new Promise<void>((r) => socket.close(r)))));
    await Promise.all([
      new Promise<void>((resolve) => flood.bind(0, "127.0.0.2", resolve)),
      new Promise<void>((resolve) => other.bind(0, "127.0.0.1", resolve)),
    ]);
    const message = questionFor("a.example");
    for (let sent = 0; sent < 100; sent++) flood.send(message, port, "127.0.0.1");
    const answered = new Promise((resolve) => other.once("message", resolve));
    other.send(message, port, "127.0.0.1");
    await answered;
    expect(seen.indexOf("127.0.0.1")).toBeLessThan(50);
  });

  it("answers every message of a connection, however it is cut", async () => {
    const { port } = await listen(honest, { maxPerConnection: 2 });
    const frames = [1, 2, 3, 4, 5].map((id) => {
      const message = questionFor(`n${id}.example`, { id });
      return Buffer.concat([Buffer.from([message.length >> 8, message.length & 0xff]), message]);
    });
    const all = Buffer.concat(frames);
    const socket = connect({ host: "127.0.0.1", port });
    const received: Buffer[] = [];
    for (const byte of all.subarray(0, 40)) socket.write(Buffer.from([byte]));
    socket.write(all.subarray(40));
    await new Promise<void>((resolve) => {
      socket.on("data", (piece: Buffer) => {
        received.push(piece);
        let rest = Buffer.concat(received);
        let messages = 0;
        for (; rest.length >= 2 && rest.length >= 2 + rest.readUInt16BE(0); messages++) {
          rest = rest.subarray(2 + rest.readUInt16BE(0));
        }
        if (messages === frames.length) resolve();
      });
    });
    socket.destroy();
  });

  it("drops datagrams beyond its bound, and answers again when there is room", async () => {
    const waiting: Array<() => void> = [];
    const { port } = await listen(
      async (message, peer) => {
        await new Promise<void>((resolve) => waiting.push(resolve));
        return await honest(message, peer);
      },
      { maxDatagrams: 1 },
    );
    const first = callDns(callFor(port, "udp", questionFor("a.example")));
    await expect.poll(() => waiting.length, { timeout: LONG_MS }).toBe(1);
    const dropped = callDns({ ...callFor(port, "udp", questionFor("b.example", { id: 2 })), timeoutMs: 200 });
    await expect(dropped).rejects.toMatchObject({ code: "timed-out" });
    waiting[0]?.();
    await first;
    const last = callDns(callFor(port, "udp", questionFor("c.example", { id: 3 })));
    await expect.poll(() => waiting.length, { timeout: LONG_MS }).toBe(2);
    waiting[1]?.();
    await last;
  });

  it("cuts off a connection that is quiet", async () => {
    const { port } = await listen(honest, { quietMs: 50 });
    const socket = connect({ host: "127.0.0.1", port });
    await new Promise<void>((resolve) => socket.on("close", () => resolve()));
  });

  it("cuts off a connection whose message comes byte by byte for ever", async () => {
    const { port } = await listen(honest, { quietMs: 200 });
    const socket = connect({ host: "127.0.0.1", port });
    const closed = new Promise<void>((resolve) => socket.on("close", () => resolve()));
    socket.on("error", () => undefined);
    socket.write(Buffer.from([0xff, 0xff]));
    const trickle = setInterval(() => socket.write(Buffer.from([0])), 20);
    await closed;
    clearInterval(trickle);
  });

  it("answers no more than a client reads, however much it asked at once", async () => {
    let answered = 0;
    const long = Buffer.alloc(60_000);
    const { port } = await listen((message) => {
      answered++;
      return Buffer.concat([message.subarray(0, 2), long]);
    });
    const message = questionFor("a.example");
    const frame = frameMessage(message);
    const questions = 2_000;
    const socket = connect({ host: "127.0.0.1", port }).pause();
    open.push(async () => socket.destroy());
    await new Promise<void>((resolve) => socket.write(Buffer.concat(Array(questions).fill(frame)), () => resolve()));
    await callDns(callFor(port, "udp", message));
    // What the kernel's buffers take is sent; the rest waits for the client.
    expect(answered).toBeLessThan(questions / 4);
    let bytes = 0;
    socket.on("data", (piece: Buffer) => (bytes += piece.length));
    socket.resume();
    await expect.poll(() => bytes, { timeout: LONG_MS }).toBe(questions * (2 + 2 + long.length));
  });

  it("keeps connections for others where one client opens all that it can", async () => {
    const { port } = await listen(honest, { maxConnections: 4, maxConnectionsPerClient: 2 });
    const greedy = [1, 2, 3].map(() => connect({ host: "127.0.0.1", port }));
    open.push(async () => greedy.map((socket) => socket.destroy()));
    const closed = greedy.map(async (socket) => await new Promise((resolve) => socket.on("close", resolve)));
    await Promise.race(closed);
    const other = connect({ host: "127.0.0.1", port, localAddress: "127.0.0.2" });
    open.push(async () => other.destroy());
    other.write(frameMessage(questionFor("a.example")));
    await new Promise<void>((resolve) => other.on("data", () => resolve()));
    for (const socket of greedy) socket.destroy();
    await Promise.all(closed);
    // The server hears of it a moment later.
    const again = async () =>
      await callDns(callFor(port, "tcp", questionFor("a.example"))).then(decode, () => undefined);
    await expect.poll(again, { timeout: LONG_MS }).toMatchObject({ answers: [{ data: "192.0.2.80" }] });
  });

  it("tells that its port is taken, and leaves nothing open", async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, "127.0.0.1", resolve));
    open.push(async () => await new Promise((resolve) => taken.close(resolve)));
    const address = taken.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    const listening = listenDns({ address: "127.0.0.1", port, onBug: () => undefined }, honest);
    await expect(listening).rejects.toMatchObject({ code: "EADDRINUSE" });
  });
});

describe("a call over UDP", () => {
  it("goes on waiting where what comes is not the answer, and gets nothing from others", async () => {
    const server = createSocket("udp4");
    await new Promise<void>((resolve) => server.bind(0, "127.0.0.1", resolve));
    open.push(async () => await new Promise<void>((resolve) => server.close(() => resolve())));
    server.on("message", (message, sender) => {
      server.send(answerWith(message, { addresses: ["192.0.2.66"], id: 4 }), sender.port, sender.address);
      server.send(Buffer.from("x"), sender.port, sender.address);
      server.send(answerWith(message, { addresses: ["192.0.2.80"] }), sender.port, sender.address);
    });
    const message = questionFor("a.example", { id: 5 });
    const isAnswer = (answer: Buffer) => answer.length > 12 && answer.readUInt16BE(0) === 5;
    const answer = await callDns({ ...callFor(server.address().port, "udp", message), isAnswer });
    expect(decode(answer).answers).toMatchObject([{ data: "192.0.2.80" }]);
  });
});

describe("the whole server", () => {
  async function serve(): Promise<RunningDns> {
    const stop = new AbortController();
    const services = [{ metadata: { name: "web", namespace: "default" }, spec: { clusterIP: "10.3.0.1" } }];
    const list = async <T>({ plural, read }: { plural: string; read(value: unknown): T }) => ({
      items: (plural === "services" ? services : []).map(read),
      resourceVersion: "1",
    });
    const watch = async (_: unknown, { signal }: { signal?: AbortSignal | undefined }) =>
      await new Promise<void>((resolve) => signal?.addEventListener("abort", () => resolve()));
    let ended: Promise<void> = Promise.resolve();
    const running = await new Promise<RunningDns>((resolve, reject) => {
      ended = runDns(
        {
          ...{
            client: { list, watch },
            clock: systemClock,
            random: { next: () => 0.5 },
            log: silentLog,
            metrics: createMetrics(),
          },
          ...{ listen: listenDns, call: callDns, randomNumber: () => Math.floor(Math.random() * 2 ** 32) },
          ...{ readResolvConf: async () => "", onBug: reject },
        },
        { address: "127.0.0.1", port: 0, domain: "cluster.local" },
        { signal: stop.signal, onListening: resolve },
      );
      ended.catch(reject);
    });
    open.push(async () => {
      stop.abort();
      await ended;
    });
    return running;
  }

  it.each(["udp", "tcp"] as const)("serves the cluster's names over %s once it knows them", async (transport) => {
    const running = await serve();
    await expect.poll(() => running.isReady(), { timeout: LONG_MS }).toBe(true);
    const answer = await callDns(callFor(running.port, transport, questionFor("web.default.svc.cluster.local")));
    expect(decode(answer).answers).toMatchObject([{ type: "A", ttl: 5, data: "10.3.0.1" }]);
    const outside = await callDns(callFor(running.port, transport, questionFor("www.example.com")));
    expect(outside.readUInt16BE(2) & 0xf).toBe(2);
  });

  it("survives what is no message, over both transports", async () => {
    const running = await serve();
    await expect.poll(() => running.isReady(), { timeout: LONG_MS }).toBe(true);
    const socket = createSocket("udp4");
    for (const junk of [Buffer.alloc(0), Buffer.from("junk"), Buffer.alloc(600, 0xff), encode({ type: "response" })]) {
      await new Promise((resolve) => socket.send(junk, running.port, "127.0.0.1", resolve));
    }
    socket.close();
    const stream = connect({ host: "127.0.0.1", port: running.port });
    stream.end(Buffer.from([0, 4, 1, 2, 3, 4]));
    await new Promise<void>((resolve) => stream.resume().on("close", () => resolve()));
    const answer = await callDns(callFor(running.port, "udp", questionFor("web.default.svc.cluster.local")));
    expect(decode(answer).answers).toHaveLength(1);
  });
});
