import { once } from "node:events";
import { silentLog } from "../../../src/base/log.ts";
import { createMetrics } from "../../../src/base/metrics.ts";
import { createFakeClock, type FakeClock } from "../../../src/host/fake/fake-clock.ts";
import { acceptWebSocket } from "../../../src/host/linux/network/accept-web-socket.ts";
import type { UpgradeResult } from "../../../src/host/upgrade-call.ts";
import { createSpdyConnection } from "../../../src/spdy/create-spdy-connection.ts";
import { connectStreams } from "../../../src/streams/__fixtures__/connected-streams.ts";
import { createWebSocketStreams } from "../../../src/streams/websocket-streams.ts";
import { promise, type Target } from "../target.ts";

const ALL = { stdin: true, stdout: true, stderr: true, tty: false };
const AGREED = { connection: "Upgrade", upgrade: "SPDY/3.1", "x-stream-protocol-version": "v4.channel.k8s.io" };
const END_MS = 60_000;

/** A frame as a client sends it, masked with zeros, so that mutation finds the message in it. */
const frame = (opcode: number, payload: string | Buffer, isLast = true) => {
  const bytes = Buffer.from(payload);
  return Buffer.concat([Buffer.from([(isLast ? 0x80 : 0) | opcode, 0x80 | bytes.length, 0, 0, 0, 0]), bytes]);
};

/** The frames of a kubectl that runs a command by WebSockets, translated to a node's SPDY. */
export const webSocketsTarget: Target = {
  name: "web-sockets",
  runs: 256,
  seeds: [
    Buffer.concat([frame(2, "\0input"), frame(2, Buffer.from([255, 0])), frame(8, Buffer.from([3, 232]))]),
    Buffer.concat([
      frame(2, "\0in", false),
      frame(9, "ping"),
      frame(0, "put"),
      frame(2, '\x04{"Width":80,"Height":24}'),
    ]),
    Buffer.concat([frame(1, "text"), frame(10, "pong"), frame(2, ""), frame(2, "\x09odd")]),
  ],
  words: [
    ...[
      frame(2, "\0a"),
      frame(8, ""),
      frame(9, ""),
      frame(9, "x".repeat(125)),
      frame(0, "a", false),
      frame(2, Buffer.from([255, 3])),
    ],
    ...[
      Buffer.from([0x82, 0xfe, 0xff, 0xff]),
      Buffer.from([0x82, 0xff, 0, 0, 0, 0, 0x7f, 0xff, 0xff, 0xff]),
      Buffer.from([0xf2]),
    ],
  ],
  // Both ends of two connections compute in the same turn here: half of what a socket hands over at once.
  maxBytes: 32 * 1024,
  setUp: async () => {
    return {
      async run(input) {
        const clock = createFakeClock();
        const streams = createWebSocketStreams({
          acceptWebSocket,
          clock,
          log: silentLog,
          metrics: createMetrics(),
        });
        const { a: client, b: socket } = connectStreams();
        client.on("error", () => undefined).resume();
        const controller = new AbortController();
        const node = createNode(clock);
        const over = streams.translate(
          {
            request: { method: "GET", header: (name) => HEADERS[name] ?? [] },
            socket,
            connect: async () => node.upgraded,
            signal: controller.signal,
          },
          ALL,
        );
        if (!client.write(input)) await Promise.race([once(client, "drain"), once(client, "close"), over]);
        await clock.settle();
        client.end();
        await clock.advance(END_MS);
        client.destroy();
        controller.abort();
        await clock.advance(END_MS);
        await over;
        node.close();
        await clock.advance(END_MS);
        promise(clock.pendingTimers === 0, `${clock.pendingTimers} timers are left`);
      },
    };
  },
};

const HEADERS: Readonly<Record<string, readonly string[]>> = {
  "sec-websocket-key": ["AAAAAAAAAAAAAAAAAAAAAA=="],
  "sec-websocket-protocol": ["v5.channel.k8s.io"],
  "sec-websocket-version": ["13"],
};

/** A node on which a command echoes its input. */
function createNode(clock: FakeClock) {
  const { a, b } = connectStreams();
  const stdout: Array<(bytes: Buffer) => void> = [];
  const connection = createSpdyConnection(b, {
    role: "server",
    clock,
    onStream(stream) {
      stream.on("error", () => undefined);
      const type = stream.headers.get("streamtype");
      if (type === "stdout") stdout.push((bytes) => void stream.write(bytes));
      if (type === "stdin") stream.on("data", (bytes: Buffer) => void stdout[0]?.(bytes));
    },
  });
  const upgraded: UpgradeResult = { kind: "upgraded", headers: AGREED, socket: a };
  return { upgraded, close: () => void connection.close() };
}
