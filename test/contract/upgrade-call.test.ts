import { createServer, type IncomingMessage, type Server } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { connect, createServer as createSocketServer, type Socket, type Server as SocketServer } from "node:net";
import { Duplex, PassThrough } from "node:stream";
import { buffer, text } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import { afterEach, describe, expect, it, vi } from "vitest";
import { callUpgrade } from "../../src/host/linux/network/call-upgrade.ts";
import { joinStreams, type UpgradeCall, type UpgradeResult } from "../../src/host/upgrade-call.ts";
import { createCertificateAuthority, issueCertificate } from "../../src/pki/issue-certificate.ts";

const ADDRESS = "127.0.0.1";
const DAY_MS = 86_400_000;
const { signal: never } = new AbortController();
const closers: Array<() => void> = [];
afterEach(() => {
  vi.useRealTimers();
  for (const close of closers.splice(0)) close();
});

async function listen(server: SocketServer): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, ADDRESS, resolve));
  closers.push(() => server.close());
  const bound = server.address();
  if (bound === null || typeof bound === "string") throw new Error("it listens on a port");
  return bound.port;
}

interface Asked {
  request: IncomingMessage;
  socket: Duplex;
  head: Buffer;
}

/** A server that agrees with these bytes to whatever it is asked for, and tells what that was. */
async function agreeing(answer: string, server: Server = createServer()) {
  let tell = (_asked: Asked) => {};
  const asked = new Promise<Asked>((resolve) => {
    tell = resolve;
  });
  server.on("upgrade", (request, socket, head) => {
    socket.on("error", () => undefined);
    closers.push(() => socket.destroy());
    socket.write(answer);
    tell({ request, socket, head });
  });
  return { port: await listen(server), asked };
}

const AGREED =
  "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: Other/1\r\nX-Two: 1\r\nX-Two: 2\r\n\r\n";

const callOf = (port: number, more: Partial<UpgradeCall> = {}): UpgradeCall => ({
  ...{ scheme: "http", host: ADDRESS, port, target: "/a/b?c=1&c=2" },
  method: "POST",
  headers: { connection: "Upgrade", upgrade: "other/1", "x-many": ["1", "2"] },
  ...more,
});

function upgradedOf(result: UpgradeResult): Duplex {
  if (result.kind !== "upgraded") throw new Error(`answered with ${result.status}`);
  closers.push(() => result.socket.destroy());
  return result.socket;
}

async function read(stream: Duplex, bytes: number): Promise<string> {
  let got = "";
  while (got.length < bytes) {
    const chunk: Buffer | null = stream.read();
    if (chunk === null) await new Promise((resolve) => stream.once("readable", resolve));
    else got += chunk.toString("latin1");
  }
  return got;
}

/** All that comes until the end, without closing the other way, as `node:stream/consumers` does. */
async function readAll(stream: Duplex): Promise<string> {
  let got = "";
  stream.on("data", (chunk: Buffer) => {
    got += chunk.toString("latin1");
  });
  await new Promise((resolve) => {
    stream.once("end", resolve);
    stream.once("close", resolve);
  });
  return got;
}

describe("callUpgrade", () => {
  it.each(["GET", "POST"])(
    "asks by %s as it is told to, and gives the connection from its first byte on",
    async (method) => {
      const { port, asked } = await agreeing(`${AGREED}early`);
      const result = await callUpgrade(callOf(port, { method }), never);
      const { request, socket: served } = await asked;
      expect(request).toMatchObject({ method, url: "/a/b?c=1&c=2" });
      expect(request.headersDistinct).toMatchObject({ upgrade: ["other/1"], "x-many": ["1", "2"] });
      expect(result.headers).toEqual({ connection: "Upgrade", upgrade: "Other/1", "x-two": ["1", "2"] });
      const socket = upgradedOf(result);
      expect(await read(socket, 5)).toBe("early");
      socket.write("ping");
      expect(await read(served, 4)).toBe("ping");
      served.write("pong");
      expect(await read(socket, 4)).toBe("pong");
    },
  );

  it("leaves each way of the connection open until its own end", async () => {
    const { port, asked } = await agreeing(AGREED);
    const socket = upgradedOf(await callUpgrade(callOf(port), never));
    const { socket: served } = await asked;
    served.end("no more from here");
    expect(await readAll(socket)).toBe("no more from here");
    socket.end("but from there");
    expect(await readAll(served)).toBe("but from there");
  });

  it("gives what else is answered, without following where it leads", async () => {
    const elsewhere = createServer((_request, response) => response.end("elsewhere"));
    const other = await listen(elsewhere);
    const location = `http://${ADDRESS}:${other}/`;
    const port = await listen(
      createServer((_request, response) => response.writeHead(302, { location, "x-two": ["1", "2"] }).end("away")),
    );
    const result = await callUpgrade(callOf(port), never);
    if (result.kind !== "answered") throw new Error("nobody agreed");
    expect(result).toMatchObject({ status: 302, headers: { location, "x-two": ["1", "2"] } });
    expect(await text(result.body)).toBe("away");
  });

  it("rejects by code where nobody listens, and where what listens speaks no HTTP", async () => {
    const port = await listen(createSocketServer((socket) => socket.end("220 mail\r\n")));
    await expect(callUpgrade(callOf(port), never)).rejects.toMatchObject({ code: "call-failed" });
    for (const close of closers.splice(0)) close();
    await expect(callUpgrade(callOf(port), never)).rejects.toMatchObject({ code: "call-failed" });
  });

  it("lets go of a server that never answers when the signal fires", async () => {
    const sockets: Socket[] = [];
    const port = await listen(createSocketServer((socket) => void sockets.push(socket)));
    const controller = new AbortController();
    const calling = callUpgrade(callOf(port), controller.signal);
    await expect.poll(() => sockets.length).toBe(1);
    const closed = new Promise((resolve) => sockets[0]?.resume().once("close", resolve));
    controller.abort();
    await expect(calling).rejects.toMatchObject({ name: "AbortError" });
    await closed;
    await expect(callUpgrade(callOf(port), controller.signal)).rejects.toMatchObject({ name: "AbortError" });
    expect(sockets.length).toBe(1);
  });

  it("outlives a connection that breaks before anybody uses it", async () => {
    const { port, asked } = await agreeing(AGREED);
    const socket = upgradedOf(await callUpgrade(callOf(port), never));
    const closed = new Promise((resolve) => socket.once("close", resolve));
    const served = (await asked).socket;
    if (!("resetAndDestroy" in served) || typeof served.resetAndDestroy !== "function")
      throw new Error("TCP can reset");
    served.resetAndDestroy();
    socket.resume();
    await closed;
  });

  it("goes to the addresses that were checked, whatever the name leads to, and keeps the name (CVE-2020-8562)", async () => {
    const now = Date.now() - DAY_MS;
    const authority = await createCertificateAuthority({ commonName: "ours", days: 9, now });
    const period = { notBefore: now, notAfter: now + 9 * DAY_MS };
    const subject = { commonName: "node", organizations: [], usages: ["server" as const], ...period };
    const pair = await issueCertificate({ ...subject, authority, dnsNames: ["n.example.invalid"] });
    const tls = createTlsServer({ cert: pair.certificatePem, key: pair.keyPem });
    const { port, asked } = await agreeing(AGREED, tls);
    const place = { scheme: "https", host: "n.example.invalid", tls: { ca: authority.certificatePem } } as const;
    const call = async (addresses: readonly string[]) =>
      await callUpgrade(callOf(port, { ...place, addresses }), never);
    upgradedOf(await call([ADDRESS]));
    expect((await asked).request.headers.host).toBe(`n.example.invalid:${port}`);
    await expect(call([])).rejects.toThrow("lookup n.example.invalid: no such host");
  });

  it("believes a server by the authority that it is given, and by no other", async () => {
    const now = Date.now() - DAY_MS;
    const [ours, others] = [
      await createCertificateAuthority({ commonName: "ours", days: 9, now }),
      await createCertificateAuthority({ commonName: "others", days: 9, now }),
    ];
    const period = { notBefore: now, notAfter: now + 9 * DAY_MS };
    const subject = { commonName: "node", organizations: [], usages: ["server" as const], ...period };
    const pair = await issueCertificate({ ...subject, authority: ours, ipAddresses: [ADDRESS] });
    const { port } = await agreeing(AGREED, createTlsServer({ cert: pair.certificatePem, key: pair.keyPem }));
    const call = (tls: UpgradeCall["tls"]) =>
      callUpgrade(callOf(port, { scheme: "https", target: "/", ...(tls && { tls }) }), never);
    upgradedOf(await call({ ca: ours.certificatePem }));
    upgradedOf(await call({ rejectUnauthorized: false }));
    await expect(call({ ca: others.certificatePem })).rejects.toMatchObject({ code: "call-failed" });
    await expect(call(undefined)).rejects.toMatchObject({ code: "call-failed" });
  });
});

/** Two ends of one TCP connection. */
async function tcpPair(): Promise<[Socket, Socket]> {
  const server = createSocketServer({ allowHalfOpen: true });
  const accepted = new Promise<Socket>((resolve) => server.once("connection", resolve));
  const port = await listen(server);
  const one = connect({ port, host: ADDRESS, allowHalfOpen: true });
  const other = await accepted;
  for (const socket of [one, other]) {
    socket.on("error", () => undefined);
    closers.push(() => socket.destroy());
  }
  return [one, other];
}

/** A client and a server with two joined connections between them. */
async function joined(options = {}, signal = never) {
  const [[client, a], [b, server]] = [await tcpPair(), await tcpPair()];
  return { client, server, a, b, over: joinStreams(a, b, options, signal) };
}

describe("joinStreams", () => {
  it("carries both ways, and the end of one way leaves the other open", async () => {
    const { client, server, a, b, over } = await joined();
    client.end("question");
    expect(await readAll(server)).toBe("question");
    server.write("answer, ");
    expect(await read(client, 8)).toBe("answer, ");
    server.end("all of it");
    expect(await text(client)).toBe("all of it");
    await over;
    expect([a.destroyed, b.destroyed]).toEqual([true, true]);
  });

  it("takes no more than the slower side lets it", async () => {
    const { client, server, a, b, over } = await joined();
    const size = 64 * 1024 * 1024;
    const piece = Buffer.alloc(64 * 1024, "x");
    let sent = 0;
    const feed = () => {
      while (sent < size) {
        sent += piece.length;
        if (!server.write(piece)) return void server.once("drain", feed);
      }
      server.end();
    };
    feed();
    // Nobody reads: all that is under way are the buffers of the system and those of the streams.
    let before = -1;
    while (before !== server.bytesWritten) {
      before = server.bytesWritten;
      await delay(50);
    }
    expect(sent).toBeLessThan(size);
    expect(a.writableLength + b.readableLength).toBeLessThan(1024 * 1024);
    expect((await buffer(client)).length).toBe(size);
    client.end();
    await over;
  });

  it.each(["client", "server"] as const)(
    "ends when the %s is torn away, and lets the other side know",
    async (side) => {
      const world = await joined();
      const { over } = world;
      const left = side === "client" ? world.server : world.client;
      world[side].resetAndDestroy();
      await text(left);
      await over;
      left.end();
    },
  );

  it("delivers what a stream said before it closed", async () => {
    const [[client, a], b] = [await tcpPair(), new PassThrough()];
    const source = Duplex.from({ readable: b, writable: new PassThrough() });
    const over = joinStreams(a, source, {}, never);
    b.write(Buffer.alloc(5 * 1024 * 1024, "x"));
    b.end();
    client.end();
    expect((await buffer(client)).length).toBe(5 * 1024 * 1024);
    await over;
  });

  it("ends both when the signal fires, also one that has already", async () => {
    const controller = new AbortController();
    const { client, server, over } = await joined({}, controller.signal);
    client.write("x");
    await read(server, 1);
    controller.abort();
    await over;
    await Promise.all([text(client), text(server)]);
    await (await joined({}, controller.signal)).over;
  });

  it("ends what is quiet for too long in both ways, and nothing earlier", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const { client, server, over } = await joined({ idleMs: 1_000 });
    let isOver = false;
    void over.then(() => {
      isOver = true;
    });
    for (const [from, to] of [
      [client, server],
      [server, client],
      [client, server],
    ] as const) {
      vi.advanceTimersByTime(999);
      from.write("x");
      await read(to, 1);
    }
    vi.advanceTimersByTime(999);
    client.write("x");
    await read(server, 1);
    expect(isOver).toBe(false);
    vi.advanceTimersByTime(1_000);
    await Promise.all([over, text(client), text(server)]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("waits no longer than a minute for what only one side still holds open", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const { client, server, over } = await joined();
    client.end();
    await readAll(server);
    vi.advanceTimersByTime(59_999);
    server.write("still here");
    await read(client, 10);
    vi.advanceTimersByTime(60_000);
    await Promise.all([over, text(client)]);
  });

  it("is over at once for streams that have closed before", async () => {
    const [[client, a], [b, server]] = [await tcpPair(), await tcpPair()];
    a.destroy();
    b.destroy();
    await joinStreams(a, b, {}, never);
    await Promise.all([text(client), text(server)]);
  });
});
