import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { acceptWebSocket } from "../../src/host/linux/network/accept-web-socket.ts";
import { systemClock } from "../../src/host/linux/system/system-clock.ts";
import { MAX_WEB_SOCKET_MESSAGE_BYTES, type ServedWebSocket } from "../../src/host/web-socket.ts";

const MEBIBYTE = 1024 * 1024;
const PROTOCOL = "SPDY/3.1+portforward.k8s.io";
const closers: Array<() => unknown> = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

interface Accepted {
  readonly served: ServedWebSocket;
  readonly socket: Socket;
  readonly messages: Buffer[];
  readonly ended: Promise<void>;
}

/** What a client's frame begins with; its payload is masked with zeros, which changes nothing. */
const startOf = (first: number, length: number) => {
  const start = Buffer.alloc(14);
  start.writeUInt8(first, 0);
  start.writeUInt8(0xff, 1);
  start.writeBigUInt64BE(BigInt(length), 2);
  return start;
};
const frame = (first: number, payload: Buffer) => Buffer.concat([startOf(first, payload.length), payload]);
const smallFrame = (first: number, payload: Buffer) =>
  Buffer.concat([Buffer.from([first, 0x80 | payload.length, 0, 0, 0, 0]), payload]);

describe("a WebSocket over TCP", () => {
  let port = 0;
  let accepted: Promise<Accepted>;

  let tell = (_accepted: Accepted) => {};
  /** Each client is accepted in a promise of its own. */
  const renew = () => {
    accepted = new Promise((resolve) => {
      tell = resolve;
    });
  };

  beforeEach(async () => {
    renew();
    const server = createServer({ allowHalfOpen: true }, (socket) => {
      closers.push(() => socket.destroy());
      let head = "";
      const read = (chunk: Buffer) => {
        head += chunk.toString("latin1");
        if (!head.includes("\r\n\r\n")) return;
        socket.off("data", read);
        const messages: Buffer[] = [];
        let end = () => {};
        const ended = new Promise<void>((resolve) => {
          end = resolve;
        });
        const key = /sec-websocket-key: (.*)\r\n/i.exec(head)?.[1] ?? "";
        const handler = { message: (bytes: Buffer) => void messages.push(bytes), end: () => end() };
        const served = acceptWebSocket({ clock: systemClock, socket, key, protocol: PROTOCOL, handler });
        tell({ served, socket, messages, ended });
      };
      socket.on("data", read);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    closers.push(() => server.close());
    const bound = server.address();
    port = typeof bound === "object" && bound !== null ? bound.port : 0;
  });

  /** A client by hand; the answer's head is what comes first. */
  async function dial(): Promise<{ client: Socket; head: string }> {
    const client = connect(port, "127.0.0.1").on("error", () => undefined);
    closers.push(() => client.destroy());
    client.write("GET / HTTP/1.1\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n");
    const [chunk] = await once(client, "data");
    return { client, head: String(chunk) };
  }

  const settled = async (read: () => number): Promise<number> => {
    let before = -1;
    while (before !== read()) {
      before = read();
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
    return before;
  };

  it("is answered with the protocol that was chosen, whatever its name", async () => {
    const { head } = await dial();
    expect(head).toMatch(/^HTTP\/1\.1 101 /);
    expect(head).toContain("\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n");
    expect(head).toContain(`\r\nSec-WebSocket-Protocol: ${PROTOCOL}\r\n`);
  });

  it("joins the parts of a message, with pings between them", async () => {
    const { client } = await dial();
    client.write(smallFrame(0x02, Buffer.from("one ")));
    client.write(smallFrame(0x89, Buffer.from("ping")));
    client.write(smallFrame(0x00, Buffer.from("two ")));
    client.write(smallFrame(0x80, Buffer.from("three")));
    const [pong] = await once(client, "data");
    expect(pong).toEqual(Buffer.concat([Buffer.from([0x8a, 4]), Buffer.from("ping")]));
    const { messages } = await accepted;
    await expect.poll(() => messages.map(String)).toEqual(["one two three"]);
  });

  it.each([
    ["a reserved bit", Buffer.from([0xf2, 0x80, 0, 0, 0, 0]), 1002],
    ["no mask", Buffer.from([0x82, 1, 0]), 1002],
    ["a message that is too long", startOf(0x82, MAX_WEB_SOCKET_MESSAGE_BYTES + 1), 1009],
  ])("is closed for %s", async (_what, bytes, code) => {
    const { client } = await dial();
    client.write(bytes);
    const [answer] = await once(client, "data");
    expect([answer[0], answer.readUInt16BE(2)]).toEqual([0x88, code]);
    client.end();
    await (await accepted).served.closed;
  });

  it("takes a message of many mebibytes", async () => {
    const { client } = await dial();
    client.write(frame(0x82, Buffer.alloc(8 * MEBIBYTE, "x")));
    const { messages } = await accepted;
    await expect.poll(() => messages[0]?.length, { timeout: 20_000 }).toBe(8 * MEBIBYTE);
  });

  it("cuts a client off that pings and reads no answer", async () => {
    const { client } = await dial();
    client.pause();
    const { socket, served } = await accepted;
    let waiting = 0;
    const pings = Buffer.concat(Array.from({ length: 500 }, () => smallFrame(0x89, Buffer.alloc(125))));
    const flood = setInterval(() => {
      waiting = Math.max(waiting, socket.writableLength);
      if (client.writableLength < MEBIBYTE) for (let round = 0; round < 100; round++) client.write(pings);
    }, 1);
    await served.closed.finally(() => clearInterval(flood));
    expect(waiting).toBeLessThan(4 * MEBIBYTE);
  });

  it("holds its sender up while the client does not read", async () => {
    const { client } = await dial();
    client.pause();
    const { served, socket } = await accepted;
    let sent = 0;
    const piece = Buffer.alloc(MEBIBYTE / 4);
    const send = () =>
      served.send([Buffer.from([1]), piece], (error) => {
        if (error !== null) return;
        sent += piece.length;
        send();
      });
    send();
    expect(await settled(() => sent)).toBeLessThan(64 * MEBIBYTE);
    expect(socket.writableLength).toBeLessThan(MEBIBYTE);
    client.resume();
    const before = sent;
    await expect.poll(() => sent, { timeout: 20_000 }).toBeGreaterThan(before + MEBIBYTE);
  });

  it("holds its client up while it is paused", async () => {
    const { client } = await dial();
    const { served, messages } = await accepted;
    served.pause();
    let sent = 0;
    const send = () =>
      client.write(frame(0x82, Buffer.alloc(MEBIBYTE / 4)), (error) => {
        if (error) return;
        sent += MEBIBYTE / 4;
        if (sent < 128 * MEBIBYTE) send();
      });
    send();
    expect(await settled(() => sent)).toBeLessThan(64 * MEBIBYTE);
    const before = messages.length;
    expect(before).toBeLessThan(8);
    served.resume();
    await expect.poll(() => messages.length, { timeout: 20_000 }).toBeGreaterThan(before + 8);
  });

  it("lets others have their turn among millions of messages without a byte", async () => {
    const messages = Buffer.concat(Array.from({ length: 100_000 }, () => smallFrame(0x82, Buffer.alloc(0))));
    const floods: Accepted[] = [];
    for (let number = 0; number < 8; number++) {
      const { client } = await dial();
      floods.push(await accepted);
      renew();
      floods.at(-1)?.served.pause();
      for (let round = 0; round < 8; round++) client.write(messages);
    }
    const count = () => floods.reduce((sum, { messages: got }) => sum + got.length, 0);
    await settled(() => floods.reduce((sum, { socket }) => sum + socket.bytesRead, 0));
    let [before, most] = [count(), 0];
    for (const { served } of floods) served.resume();
    while (before < 1_000_000) {
      await new Promise((resolve) => setImmediate(resolve));
      most = Math.max(most, count() - before);
      before = count();
    }
    // What the kernel holds of one client alone is more.
    expect(most).toBeLessThan(100_000);
  });

  it("ends with the close of its client, which gets its own code back", async () => {
    const { client } = await dial();
    const { served, ended } = await accepted;
    client.write(smallFrame(0x88, Buffer.from([0x03, 0xe9])));
    const [answer] = await once(client, "data");
    expect(answer.subarray(0, 4)).toEqual(Buffer.from([0x88, 2, 0x03, 0xe9]));
    client.end();
    await Promise.all([ended, served.closed]);
  });

  it("says what is waiting and why it is closed, and waits a second for a client that does not hang up", async () => {
    const { client } = await dial();
    const { served, ended } = await accepted;
    served.send([Buffer.from("last")], () => undefined);
    served.close(1001);
    let got = Buffer.alloc(0);
    client.on("data", (chunk: Buffer) => {
      got = Buffer.concat([got, chunk]);
    });
    await Promise.all([ended, served.closed]);
    expect(got).toEqual(
      Buffer.concat([Buffer.from([0x82, 4]), Buffer.from("last"), Buffer.from([0x88, 2, 0x03, 0xe9])]),
    );
  });
});
