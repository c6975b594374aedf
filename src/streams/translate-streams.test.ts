import { once } from "node:events";
import { Readable } from "node:stream";
import { describe, expect, test } from "vitest";
import { silentLog } from "../base/log.ts";
import { createMetrics } from "../base/metrics.ts";
import { createFakeClock } from "../host/fake/fake-clock.ts";
import { acceptWebSocket } from "../host/linux/network/accept-web-socket.ts";
import type { UpgradeResult } from "../host/upgrade-call.ts";
import { createSpdyConnection } from "../spdy/create-spdy-connection.ts";
import type { SpdyStream } from "../spdy/spdy-stream.ts";
import { connectStreams } from "./__fixtures__/connected-streams.ts";
import { createWebSocketClient, readRequest } from "./__fixtures__/web-socket-client.ts";
import type { RequestedStreams } from "./requested-streams.ts";
import type { ConnectNode } from "./streams-call.ts";
import { createWebSocketStreams } from "./websocket-streams.ts";

const AGREED = { connection: "Upgrade", upgrade: "SPDY/3.1", "x-stream-protocol-version": "v4.channel.k8s.io" };
const ALL: RequestedStreams = { stdin: true, stdout: true, stderr: true, tty: false };
const TERMINAL: RequestedStreams = { stdin: true, stdout: true, stderr: true, tty: true };

/** What a node does with the streams, by their type, once there are as many as are asked for. */
type Command = (streams: ReadonlyMap<string, SpdyStream>, end: () => void) => void;

interface Setup {
  streams?: RequestedStreams;
  command?: Command;
  connect?: ConnectNode;
}

async function start({ streams = ALL, command = () => undefined, connect }: Setup) {
  const clock = createFakeClock();
  const metrics = createMetrics();
  const { a, b } = connectStreams();
  const client = createWebSocketClient(a, ["v5.channel.k8s.io"]);
  const request = await readRequest(b);
  const controller = new AbortController();
  const asked: unknown[] = [];
  const node = createNode(clock, streams, command);
  const over = createWebSocketStreams({ acceptWebSocket, clock, log: silentLog, metrics }).translate(
    {
      request,
      socket: b,
      connect: async (headers, signal) => {
        asked.push(headers);
        return await (connect ?? node.connect)(headers, signal);
      },
      signal: controller.signal,
    },
    streams,
  );
  return { clock, metrics, client, over, asked, node, controller, socket: a };
}

function createNode(
  clock: ReturnType<typeof createFakeClock>,
  { stdin, stdout, stderr, tty }: RequestedStreams,
  command: Command,
) {
  const expected = 1 + Number(stdin) + Number(stdout) + Number(stderr && !tty) + Number(tty);
  const { a, b } = connectStreams();
  const streams = new Map<string, SpdyStream>();
  const connection = createSpdyConnection(b, {
    role: "server",
    clock,
    onStream(stream) {
      streams.set(stream.headers.get("streamtype") ?? "", stream);
      if (streams.size === expected) command(streams, () => void connection.close());
    },
  });
  const connect: ConnectNode = async () => ({ kind: "upgraded", headers: AGREED, socket: a }) satisfies UpgradeResult;
  return { connect, streams, connection, socket: b };
}

const statusOf = (channels: ReadonlyMap<number, Buffer>) => JSON.parse(String(channels.get(3) ?? "null"));

describe("a WebSocket of exec or attach", () => {
  test("is told first that it is connected, and last that all went well", async () => {
    const { client, over, asked, clock, metrics } = await start({
      command(streams, end) {
        streams.get("stdout")?.end("out");
        streams.get("stderr")?.end("err");
        streams.get("error")?.end("", end);
      },
    });
    expect(await client.closed).toBe(1000);
    await over;
    expect(client.webSocket.protocol).toBe("v5.channel.k8s.io");
    expect(client.messages[0]).toEqual(Buffer.from([1]));
    expect(String(client.channels.get(1))).toBe("out");
    expect(String(client.channels.get(2))).toBe("err");
    expect(String(client.channels.get(3))).toBe('{"metadata":{},"status":"Success"}');
    expect(asked).toEqual([
      { Connection: "Upgrade", Upgrade: "SPDY/3.1", "X-Stream-Protocol-Version": ["v4.channel.k8s.io"] },
    ]);
    expect(clock.pendingTimers).toBe(0);
    expect(await metrics.render()).toContain('apiserver_stream_translator_requests_total{code="200"} 1');
  });

  test("carries input, and its end by the close signal", async () => {
    const { client, over } = await start({
      command(streams, end) {
        const [stdin, stdout] = [streams.get("stdin"), streams.get("stdout")];
        if (stdout) stdin?.pipe(stdout);
        stdout?.once("finish", () => {
          streams.get("stderr")?.end();
          streams.get("error")?.end("", end);
        });
      },
    });
    await client.until(() => client.messages.length > 0);
    client.webSocket.send(Buffer.from("\0in two "));
    client.webSocket.send(Buffer.from("\0messages"));
    client.webSocket.send(Buffer.from([255, 0]));
    await client.closed;
    await over;
    expect(String(client.channels.get(1))).toBe("in two messages");
  });

  test("carries input that came before the node was connected, in order", async () => {
    const gate: { open?: () => void } = {};
    const opened = new Promise<void>((resolve) => {
      gate.open = resolve;
    });
    const received: string[] = [];
    const setup = await start({
      command(streams, end) {
        streams.get("stdin")?.on("data", (chunk) => void received.push(String(chunk)));
        streams.get("stdin")?.once("end", end);
      },
      connect: async (headers, signal) => {
        await opened;
        return await setup.node.connect(headers, signal);
      },
    });
    await setup.client.until(() => setup.client.messages.length > 0);
    setup.client.webSocket.send(Buffer.from("\0first"));
    setup.client.webSocket.send(Buffer.from("\0second"));
    setup.client.webSocket.send(Buffer.from([255, 0]));
    await setup.clock.settle();
    gate.open?.();
    await setup.over;
    expect(received.join("")).toBe("firstsecond");
  });

  test("carries sizes of a terminal, which has one output", async () => {
    const sizes: string[] = [];
    const { client, over, node } = await start({
      streams: TERMINAL,
      command(streams, end) {
        streams.get("resize")?.on("data", (chunk) => {
          sizes.push(String(chunk));
          end();
        });
      },
    });
    await client.until(() => client.messages.length > 0);
    client.webSocket.send(Buffer.from('\u0004{"Width":80,"Height":24}'));
    await over;
    expect(sizes).toEqual(['{"Width":80,"Height":24}']);
    expect([...node.streams.keys()]).toEqual(["error", "stdin", "stdout", "resize"]);
  });

  test.each<[string, string, object]>([
    [
      "an exit code",
      '{"metadata":{},"status":"Failure","message":"…","reason":"NonZeroExitCode","details":{"causes":[{"reason":"ExitCode","message":"7"}]}}',
      {
        metadata: {},
        status: "Failure",
        message: "command terminated with non-zero exit code: command terminated with exit code 7",
        reason: "NonZeroExitCode",
        details: { causes: [{ reason: "ExitCode", message: "7" }] },
      },
    ],
    [
      "a failure of the runtime",
      '{"metadata":{},"status":"Failure","message":"error executing command in container: no such file","reason":"InternalError","code":500}',
      {
        metadata: {},
        status: "Failure",
        message: "Internal error occurred: error executing command in container: no such file",
        reason: "InternalError",
        details: { causes: [{ message: "error executing command in container: no such file" }] },
        code: 500,
      },
    ],
  ])("is told %s", async (_what, written, status) => {
    const { client, over } = await start({
      command(streams, end) {
        streams.get("stdout")?.end();
        streams.get("stderr")?.end();
        streams.get("error")?.write(written, end);
      },
    });
    await client.closed;
    await over;
    expect(statusOf(client.channels)).toEqual(status);
  });

  test.each<[string, ConnectNode, string]>([
    [
      "a node that cannot be reached",
      async () => {
        throw new Error("connect ECONNREFUSED 10.0.0.7:10250");
      },
      "error sending request: connect ECONNREFUSED 10.0.0.7:10250",
    ],
    [
      "a node that answers with a Status",
      async () => answered(404, '{"kind":"Status","message":"container not found (\\"main\\")"}'),
      'unable to upgrade connection: container not found ("main")',
    ],
    [
      "a node that answers with a text",
      async () => answered(403, "Forbidden\n"),
      "unable to upgrade connection: Forbidden",
    ],
    ["a node that says nothing", async () => answered(500, ""), "unable to upgrade connection: empty server response"],
    ["a node that sends it elsewhere", async () => answered(302, ""), "error sending request: redirect not allowed"],
  ])("is told in the error channel of %s", async (_what, connect, message) => {
    const { client, over, metrics } = await start({ connect });
    expect(await client.closed).toBe(1000);
    await over;
    expect(statusOf(client.channels)).toEqual({
      metadata: {},
      status: "Failure",
      message: `Internal error occurred: ${message}`,
      reason: "InternalError",
      details: { causes: [{ message }] },
      code: 500,
    });
    expect(await metrics.render()).toContain('apiserver_stream_translator_requests_total{code="500"} 1');
  });

  test("is told that the node has broken off, and not that all went well", async () => {
    const { client, over, node } = await start({ command: (streams) => void streams.get("stdout")?.write("half") });
    await client.until(() => String(client.channels.get(1)) === "half");
    node.socket.destroy();
    await client.closed;
    await over;
    expect(statusOf(client.channels)).toMatchObject({
      status: "Failure",
      message: "Internal error occurred: error reading from error stream: the peer has ended the connection",
    });
  });
});

function answered(status: number, body: string): UpgradeResult {
  return { kind: "answered", status, headers: {}, body: Readable.from([Buffer.from(body)]) };
}

describe("the end from the client's side", () => {
  test.each<[string, (client: Awaited<ReturnType<typeof start>>) => void]>([
    ["a close", ({ client }) => client.webSocket.close()],
    ["a broken connection", ({ socket }) => void socket.destroy()],
    ["a close signal for no channel", ({ client }) => client.webSocket.send(Buffer.from([255, 9]))],
    ["a close signal that is too long", ({ client }) => client.webSocket.send(Buffer.from([255, 0, 0]))],
    ["a reserved bit", ({ socket }) => void socket.write(Buffer.from([0xf2, 0x80, 0, 0, 0, 0]))],
    ["the server's closing", ({ controller }) => controller.abort()],
  ])("ends the node's session, too: %s", async (_what, leave) => {
    const setup = await start({});
    await setup.client.until(() => setup.client.messages.length > 0);
    await setup.clock.settle();
    leave(setup);
    await setup.clock.settle();
    await setup.clock.advance(10_000);
    await setup.over;
    await setup.node.connection.closed;
    expect(setup.clock.pendingTimers).toBe(0);
  });

  test("comes while the node is being connected", async () => {
    const { client, over, clock } = await start({
      connect: async (_headers, signal) => {
        await once(signal, "abort");
        throw new DOMException("aborted", "AbortError");
      },
    });
    await client.until(() => client.messages.length > 0);
    client.webSocket.terminate();
    await over;
    expect(clock.pendingTimers).toBe(0);
  });

  test("comes by itself after four hours without a message", async () => {
    const { client, over, clock } = await start({});
    await client.until(() => client.messages.length > 0);
    await clock.advance(4 * 3_600_000);
    await over;
    expect(await client.closed).toBe(1000);
  });
});

describe("back-pressure", () => {
  test("keeps input back while the command does not read, and shows meanwhile that we live", async () => {
    const { client, over, clock, node } = await start({});
    await client.until(() => client.messages.length > 0);
    const total = 8 * 1024 * 1024;
    let taken = 0;
    for (let sent = 0; sent < total; sent += 32 * 1024) {
      client.webSocket.send(Buffer.alloc(32 * 1024 + 1), () => {
        taken += 32 * 1024;
      });
    }
    for (let turn = 0; turn < 100; turn++) await clock.settle();
    expect(taken).toBeLessThan(3 * 1024 * 1024);
    const before = client.pongs.count;
    await clock.advance(45_000);
    expect(client.pongs.count - before).toBe(3);
    let received = 0;
    node.streams.get("stdin")?.on("data", (chunk: Buffer) => {
      received += chunk.length;
      if (received === total) void node.connection.close();
    });
    await over;
    expect(received).toBe(total);
  });

  test("keeps output back while the client does not read", async () => {
    const total = 8 * 1024 * 1024;
    let written = 0;
    const { client, over, clock } = await start({
      command(streams, end) {
        const stdout = streams.get("stdout");
        for (let sent = 0; sent < total; sent += 32 * 1024) {
          stdout?.write(Buffer.alloc(32 * 1024), () => {
            written += 32 * 1024;
          });
        }
        streams.get("stderr")?.end();
        stdout?.end(() => streams.get("error")?.end("", end));
      },
    });
    await client.until(() => client.messages.length > 0);
    client.webSocket.pause();
    for (let turn = 0; turn < 100; turn++) await clock.settle();
    expect(written).toBeLessThan(3 * 1024 * 1024);
    client.webSocket.resume();
    await client.closed;
    await over;
    expect(client.channels.get(1)?.length).toBe(total);
    expect(statusOf(client.channels).status).toBe("Success");
  });
});
