import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { request } from "node:https";
import { connect as connectPlain } from "node:net";
import type { Duplex } from "node:stream";
import { connect, type TLSSocket } from "node:tls";
import { afterEach, expect, it } from "vitest";
import type { HttpHandler, HttpServer, PacedWriter, ServedRequest, TakenOver } from "../../src/host/http-server.ts";
import { listenHttp } from "../../src/host/linux/network/listen-http.ts";
import { issueLoopbackCertificate } from "./loopback-certificate.ts";

const ADDRESS = "127.0.0.1";
const { serving } = await issueLoopbackCertificate();
const pair = { certificatePem: serving.certificatePem, keyPem: serving.keyPem };
const closers: Array<() => Promise<void> | void> = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

async function listen(handler: HttpHandler): Promise<HttpServer> {
  const identity = { pair, clientAuthorityPem: undefined };
  const server = await listenHttp(
    { at: { address: ADDRESS, port: 0 }, tls: { identity, asksForCertificate: false }, decodesPath: true },
    handler,
  );
  closers.push(() => server.close());
  return server;
}

const takenOver = (takeOver: TakenOver["takeOver"]) => ({ status: 101, body: { takeOver } });

/** The head of what is answered; its body is to be read. */
async function ask(port: number, method = "GET"): Promise<IncomingMessage> {
  return await new Promise((resolve, reject) => {
    const call = request({ host: ADDRESS, port, method, agent: false, rejectUnauthorized: false }, resolve);
    call.on("error", reject);
    closers.push(() => void call.destroy());
    call.end();
  });
}

/** What comes, and how it ends. */
async function readAnswer(answer: IncomingMessage): Promise<{ text: string; isComplete: boolean }> {
  let text = "";
  answer.on("data", (chunk: Buffer) => {
    text += chunk.toString("latin1");
  });
  answer.on("error", () => undefined);
  await new Promise((resolve) => answer.once("close", resolve));
  return { text, isComplete: answer.complete };
}

async function dial(port: number, head: string): Promise<Duplex> {
  const carrier = connectPlain({ host: ADDRESS, port, allowHalfOpen: true });
  const socket: TLSSocket = connect({ socket: carrier, rejectUnauthorized: false });
  socket.on("error", () => undefined);
  closers.push(() => void socket.destroy());
  await once(socket, "secureConnect");
  socket.write(head);
  return socket;
}

const upgradeOf = (more = "") =>
  `POST /exec/a HTTP/1.1\r\nHost: n\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n${more}\r\n`;

/** As much as that. */
async function read(stream: Duplex, bytes: number): Promise<string> {
  let got = "";
  while (got.length < bytes) {
    const chunk: Buffer | null = stream.read();
    if (chunk === null) await once(stream, "readable");
    else got += chunk.toString("latin1");
  }
  return got;
}

/** All that comes until the end. */
async function readAll(stream: Duplex): Promise<string> {
  let got = "";
  stream.on("data", (chunk: Buffer) => {
    got += chunk.toString("latin1");
  });
  await new Promise((resolve) => void stream.once("end", resolve).once("close", resolve));
  return got;
}

function createGate(): { readonly opened: Promise<void>; open(): void } {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

it("sends the head of a stream before its first piece, and the pieces as they come", async () => {
  const first = createGate();
  const second = createGate();
  const { port } = await listen(() => ({
    status: 203,
    headers: { "content-type": "text/x", "x-own": "1" },
    body: {
      produce: async (writer) => {
        await first.opened;
        await writer.write(Buffer.from("one, "));
        await second.opened;
        await writer.write(Buffer.from("two"));
      },
    },
  }));
  const answer = await ask(port);
  expect(answer.statusCode).toBe(203);
  expect(answer.headers).toMatchObject({ "content-type": "text/x", "x-own": "1", "transfer-encoding": "chunked" });
  first.open();
  const [piece] = await once(answer, "data");
  expect(String(piece)).toBe("one, ");
  second.open();
  expect(await readAnswer(answer)).toEqual({ text: "two", isComplete: true });
});

it("streams nothing where only the head is asked for", async () => {
  let streamed = 0;
  const { port } = await listen(() => ({ status: 200, body: { produce: async () => void streamed++ } }));
  expect(await readAnswer(await ask(port, "HEAD"))).toEqual({ text: "", isComplete: true });
  expect(streamed).toBe(0);
});

it("cuts off a stream that fails, so that nobody takes it for the whole", async () => {
  const { port } = await listen(() => ({
    status: 200,
    body: {
      produce: async (writer) => {
        await writer.write(Buffer.from("part"));
        throw new Error("the file is gone");
      },
    },
  }));
  expect(await readAnswer(await ask(port))).toEqual({ text: "part", isComplete: false });
});

it("has a stream wait for a client that does not read, and tells it when that client has gone", async () => {
  const piece = Buffer.alloc(256 * 1024);
  const seen: { written: number; writer?: PacedWriter } = { written: 0 };
  const over = createGate();
  let thrown: unknown;
  const { port } = await listen(() => ({
    status: 200,
    body: {
      produce: async (writer) => {
        seen.writer = writer;
        try {
          for (;;) {
            await writer.write(piece);
            seen.written += piece.length;
          }
        } catch (error) {
          thrown = error;
          over.open();
          throw error;
        }
      },
    },
  }));
  const answer = await ask(port);
  let before = -1;
  while (before !== seen.written) {
    before = seen.written;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  // What the system and TLS hold; a server that did not wait would have gone on for ever.
  expect(seen.written).toBeLessThan(64 * 1024 * 1024);
  expect(seen.writer?.signal.aborted).toBe(false);
  answer.destroy();
  await over.opened;
  expect(thrown).toMatchObject({ name: "AbortError" });
  expect(seen.writer?.signal.aborted).toBe(true);
  await expect(seen.writer?.write(piece)).rejects.toMatchObject({ name: "AbortError" });
});

it("ends streams when it closes", async () => {
  const over = createGate();
  const { port, close } = await listen(() => ({
    status: 200,
    body: {
      produce: async ({ signal }) => {
        await once(signal, "abort");
        over.open();
      },
    },
  }));
  const reading = readAnswer(await ask(port));
  await close();
  await over.opened;
  expect(await reading).toEqual({ text: "", isComplete: false });
});

it("hands the connection over from its first byte on, with both of its ways", async () => {
  const seen: ServedRequest[] = [];
  const { port } = await listen((asked) => {
    seen.push(asked);
    return takenOver(async (socket) => {
      socket.write(`HTTP/1.1 101 Switching Protocols\r\n\r\n${await read(socket, 5)}`);
      // The client says no more, and is still answered.
      socket.end(`, ${await readAll(socket)}, and an end`);
      await once(socket, "close");
    });
  });
  const client = await dial(port, `${upgradeOf("X-Two: 1\r\nx-two: 2\r\n")}early`);
  client.end("late");
  expect(await readAll(client)).toBe("HTTP/1.1 101 Switching Protocols\r\n\r\nearly, late, and an end");
  const [asked] = seen;
  expect(asked).toMatchObject({ method: "POST", path: "/exec/a", isUpgrade: true });
  expect([asked?.header("upgrade"), asked?.header("none")]).toEqual([["SPDY/3.1"], []]);
  expect(asked?.headersBeginning("")).toMatchObject({ host: ["n"], upgrade: ["SPDY/3.1"], "x-two": ["1", "2"] });
});

it.each<[string, HttpHandler, RegExp]>([
  [
    "at once",
    () => ({ status: 403, body: "no\n", headers: { "x-own": "1" } }),
    /^HTTP\/1\.1 403 .*\r\nx-own: 1\r\n.*\r\n\r\nno\n$/s,
  ],
  [
    "in pieces",
    () => ({ status: 404, body: { produce: async (writer) => await writer.write(Buffer.from("no")) } }),
    /^HTTP\/1\.1 404 .*\r\n\r\n2\r\nno\r\n0\r\n\r\n$/s,
  ],
  ["by failing", () => Promise.reject(new Error("no")), /^HTTP\/1\.1 500 .*\r\n\r\nno\n$/s],
])(
  "answers a request for another protocol %s, and that is the end of the connection",
  async (_how, handler, expected) => {
    const { port } = await listen(handler);
    const answer = await readAll(await dial(port, upgradeOf()));
    expect(answer).toMatch(expected);
    expect(answer).toMatch(/\r\nconnection: close\r\n/i);
  },
);

it.each(["Content-Length: 4\r\n", "Transfer-Encoding: chunked\r\n"])(
  "refuses a request for another protocol that has a body (%j)",
  async (header) => {
    let served = 0;
    const { port } = await listen(() => {
      served++;
      return { status: 200, body: "" };
    });
    expect(await readAll(await dial(port, upgradeOf(header)))).toMatch(/^HTTP\/1\.1 400 /);
    expect(served).toBe(0);
  },
);

it("gives no connection away that asked for no other protocol", async () => {
  let taken = 0;
  const { port } = await listen(({ isUpgrade }) => {
    expect(isUpgrade).toBe(false);
    return takenOver(async () => void taken++);
  });
  await expect(ask(port)).rejects.toThrow();
  expect(taken).toBe(0);
});

it.each<[string, () => Promise<void>]>([
  ["has ended", async () => undefined],
  ["has failed", async () => await Promise.reject(new Error("no"))],
])("closes a connection that it gave away when that %s", async (_how, takeOver) => {
  const { port } = await listen(() => takenOver(takeOver));
  expect(await readAll(await dial(port, upgradeOf()))).toBe("");
});

it("tells a handler that still thinks when the client of an upgrade has gone", async () => {
  const asked = createGate();
  const gone = createGate();
  const { port } = await listen(async ({ signal }) => {
    asked.open();
    await once(signal, "abort");
    gone.open();
    return takenOver(async (socket) => void expect(socket.destroyed).toBe(true));
  });
  const client = await dial(port, upgradeOf());
  await asked.opened;
  client.destroy();
  await gone.opened;
});

it("closes connections that it gave away when it closes, and waits for who has them", async () => {
  const taken = createGate();
  const order: string[] = [];
  const { port, close } = await listen(() =>
    takenOver(async (socket) => {
      taken.open();
      await once(socket, "close");
      await new Promise((resolve) => setImmediate(resolve));
      order.push("over");
    }),
  );
  const client = await dial(port, upgradeOf());
  await taken.opened;
  const half = await dial(port, upgradeOf().slice(0, -20));
  const ended = Promise.all([readAll(client), readAll(half)]);
  await close();
  order.push("closed");
  expect(order).toEqual(["over", "closed"]);
  await ended;
});
