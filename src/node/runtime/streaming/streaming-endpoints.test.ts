import { type Duplex, duplexPair, Readable } from "node:stream";
import { describe, expect, it } from "vitest";
import type { Pod } from "../../../api/gen/types.ts";
import { podFullName } from "../../../api/pods.ts";
import { silentLog } from "../../../base/log.ts";
import * as cri from "../../../cri/gen/cri-v1.ts";
import { createFakeClock } from "../../../host/fake/fake-clock.ts";
import { createFakeRequest } from "../../../host/fake/fake-request.ts";
import type { ServedAnswer, ServedRequest } from "../../../host/http-server.ts";
import { acceptWebSocket } from "../../../host/linux/network/accept-web-socket.ts";
import type { UpgradeCall, UpgradeResult } from "../../../host/upgrade-call.ts";
import { createSpdyConnection } from "../../../spdy/create-spdy-connection.ts";
import type { SpdyStream } from "../../../spdy/spdy-stream.ts";
import { connectStreams } from "../../../streams/__fixtures__/connected-streams.ts";
import { createTunnelClient, OPCODES } from "../../../streams/__fixtures__/tunnel-client.ts";
import { createWebSocketClient, readRequest } from "../../../streams/__fixtures__/web-socket-client.ts";
import { createCarriedStreams } from "./carried-streams.ts";
import { createStreamingEndpoints } from "./streaming-endpoints.ts";

const POD: Pod = {
  metadata: { name: "web", namespace: "ns", uid: "u1" },
  spec: { containers: [{ name: "main", tty: true }], ephemeralContainers: [{ name: "debug" }] },
};
const NO_URL = "error dialing backend: the container runtime gave no http or https URL";
const RUNTIME_URL = "http://127.0.0.1:4000/stream/token";
const HOUR_MS = 3_600_000;

interface World {
  /** The behaviour of the runtime's streaming server. Default: it agrees. */
  serve?: (call: UpgradeCall, signal: AbortSignal) => Promise<UpgradeResult>;
  url?: string;
  /** By their ids; the last is the newest. */
  running?: readonly string[];
  maxStreams?: number;
  ran?: Partial<cri.ExecSyncResponse>;
}

function createWorld({ serve, url = RUNTIME_URL, running = ["old", "new"], maxStreams = 2, ran = {} }: World = {}) {
  const clock = createFakeClock();
  const asked: unknown[] = [];
  const calls: UpgradeCall[] = [];
  /** The runtime's ends of the streams. */
  const peers: Duplex[] = [];
  const agree = async (): Promise<UpgradeResult> => {
    const [socket, peer] = duplexPair();
    peers.push(peer);
    return await Promise.resolve({ kind: "upgraded", headers: { upgrade: "x", "x-two": ["1", "2"] }, socket });
  };
  const note = async <Answer>(request: unknown, answer: Answer): Promise<Answer> => {
    asked.push(request);
    return await Promise.resolve(answer);
  };
  const found = running.map((id, index) => ({ id, createdAt: BigInt(index + 1) })).reverse();
  const streaming = createStreamingEndpoints(
    {
      clock,
      carried: createCarriedStreams({ acceptWebSocket, clock, log: silentLog }, { idleTimeoutMs: 4 * HOUR_MS }),
      callUpgrade: async (call, signal) => {
        calls.push(call);
        return await (serve ?? agree)(call, signal);
      },
      pods: {
        byFullName: (name) => (name === podFullName(POD) ? POD : undefined),
        resolveUid: (uid) => (uid === "mirror" ? "u1" : uid),
      },
      runtime: {
        listContainers: async (request) =>
          await note(request.filter, cri.ListContainersResponse.fromPartial({ containers: found })),
        listPodSandbox: async (request) =>
          await note(request.filter, cri.ListPodSandboxResponse.fromPartial({ items: found })),
        exec: async (request) => await note(request, { url }),
        attach: async (request) => await note(request, { url }),
        portForward: async (request) => await note(request, { url }),
        execSync: async (request, options) =>
          await note({ ...request, ...options }, cri.ExecSyncResponse.fromPartial(ran)),
      },
    },
    { idleTimeoutMs: 4 * HOUR_MS, maxStreams },
  );
  return { clock, asked, calls, peers, ...streaming };
}

const UPGRADE: Record<string, string[]> = { connection: ["Upgrade"], upgrade: ["SPDY/3.1"] };

function requestOf(
  target: string,
  more: { method?: string; headers?: Record<string, string[]>; signal?: AbortSignal } = {},
) {
  return createFakeRequest(target, { method: "POST", headers: UPGRADE, remoteAddress: "::ffff:192.0.2.1", ...more });
}

async function ask(world: ReturnType<typeof createWorld>, request: ServedRequest): Promise<ServedAnswer> {
  const endpoint = world.endpoints[`/${request.path.split("/")[1]}`];
  if (endpoint === undefined) throw new Error("there is such an endpoint");
  return await endpoint(request);
}

/** Takes the connection over: the client's end of it, and when it is over. */
function take(answer: ServedAnswer): { client: Duplex; over: Promise<void> } {
  const { body } = answer;
  if (typeof body === "string" || !("takeOver" in body)) throw new Error(`answered with ${answer.status}`);
  const [socket, client] = duplexPair();
  return { client, over: body.takeOver(socket) };
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

const HEAD = "HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nx-two: 1\r\nx-two: 2\r\n\r\n";
const LONG = "x".repeat(20_000);
const ofContainer = { state: { state: 1 }, labelSelector: { "io.kubernetes.pod.uid": "u1" } };

describe("what the runtime is asked for", () => {
  it.each<[string, object]>([
    [
      `/exec/ns/web/main?command=sh&input=1&command=-c&command=${LONG}&output=1&command=`,
      { containerId: "new", cmd: ["sh", "-c", LONG, ""], stdin: true, stdout: true, stderr: false, tty: false },
    ],
    // The container's terminal, not the client's idea of one.
    ["/attach/ns/web/mirror/main?output=1", { containerId: "new", stdin: false, stdout: true, tty: true }],
    ["/attach/ns/web/debug?input=1&tty=1&error=1", { containerId: "new", stdin: true, stderr: false, tty: false }],
    ["/portForward/ns/web/u1?port=80", { podSandboxId: "new", port: [] }],
  ])("by %.60s", async (path, expected) => {
    const world = createWorld();
    expect(await ask(world, requestOf(path))).toHaveProperty("body.takeOver");
    expect(world.asked).toMatchObject([path.startsWith("/portForward") ? {} : ofContainer, expected]);
  });

  it("names the ports to it where the client speaks WebSocket", async () => {
    const world = createWorld();
    const headers = { connection: ["upgrade"], upgrade: ["WebSocket"] };
    await ask(world, requestOf("/portForward/ns/web?port=80&port=443", { method: "GET", headers }));
    expect(world.asked[1]).toMatchObject({ port: [80, 443] });
    expect(await ask(world, requestOf("/portForward/ns/web", { method: "GET", headers }))).toMatchObject({
      status: 400,
    });
  });

  it("passes the request on, but for what is the client's own", async () => {
    const world = createWorld();
    const own = { authorization: ["Bearer secret"], cookie: ["secret"] };
    const headers = {
      ...UPGRADE,
      ...own,
      "x-stream-protocol-version": ["v4", "v3"],
      "x-forwarded-for": ["198.51.100.1"],
    };
    await ask(world, requestOf("/exec/ns/web/main?output=1", { headers }));
    expect(world.calls).toMatchObject([
      { scheme: "http", host: "127.0.0.1", port: 4000, target: "/stream/token", method: "POST" },
    ]);
    expect(world.calls[0]?.headers).toEqual({
      ...UPGRADE,
      "x-stream-protocol-version": ["v4", "v3"],
      "x-forwarded-for": ["198.51.100.1, 192.0.2.1"],
    });
  });
});

it.each<[string, number, string, World?]>([
  ["/exec/ns/none/main?output=1", 404, "pod does not exist"],
  ["/attach/ns/none/main?output=1", 404, "pod does not exist"],
  ["/portForward/ns/none", 404, "pod does not exist"],
  ["/run/ns/none/main?cmd=ls", 404, "pod does not exist"],
  ["/exec/ns/none/main", 400, "you must specify at least 1 of stdin, stdout, stderr"],
  ["/attach/ns/none/main", 400, "you must specify at least 1 of stdin, stdout, stderr"],
  ["/exec/ns/web/main?output=1", 500, 'container not found ("main")', { running: [] }],
  ["/exec/ns/web/other-uid/main?output=1", 500, 'container not found ("main")'],
  ["/attach/ns/web/main?output=1", 500, "container main not found in pod web_ns", { running: [] }],
  ["/attach/ns/web/gone?output=1", 500, "container gone not found in pod web_ns"],
  ["/portForward/ns/web", 500, 'pod not found ("web_ns")', { running: [] }],
  ["/portForward/ns/web/other-uid", 404, "pod not found"],
  ["/run/ns/web/main?cmd=ls", 500, 'container not found ("main")', { running: [] }],
  ["/exec/ns/web/main?output=1", 500, NO_URL, { url: "/stream/token" }],
  ["/exec/ns/web/main?output=1", 500, NO_URL, { url: "ftp://127.0.0.1/token" }],
])("answers %s with %i %s", async (path, status, body, world) => {
  expect(await ask(createWorld(world), requestOf(path))).toMatchObject({ status, body });
});

it("asks nothing of the runtime for a request that no stream can come of", async () => {
  const world = createWorld();
  const answer = await ask(world, requestOf("/exec/ns/web/main?output=1", { headers: {} }));
  expect(answer).toEqual({ status: 500, body: "Upgrade request required\n" });
  expect([world.asked.length, world.calls.length]).toEqual([1, 0]);
});

describe("a stream", () => {
  it("is carried both ways, from the runtime's own head on", async () => {
    const world = createWorld();
    const { client, over } = take(await ask(world, requestOf("/exec/ns/web/main?output=1")));
    expect(await read(client, HEAD.length)).toBe(HEAD);
    const [peer] = world.peers;
    if (peer === undefined) throw new Error("the runtime was called");
    client.write("in");
    expect(await read(peer, 2)).toBe("in");
    peer.end("out");
    expect(await read(client, 3)).toBe("out");
    peer.resume();
    client.resume().end();
    await over;
  });

  it("goes no further than there are places, and gives its place back", async () => {
    const world = createWorld({ maxStreams: 1 });
    const request = requestOf("/exec/ns/web/main?output=1");
    const { client, over } = take(await ask(world, request));
    expect(await ask(world, request)).toMatchObject({ status: 429, headers: { "retry-after": "60" } });
    client.resume().end();
    world.peers[0]?.resume().end();
    await over;
    expect(await ask(world, request)).toHaveProperty("body.takeOver");
  });

  it.each<[string, World["serve"]]>([
    ["the runtime cannot be reached", async () => await Promise.reject(new Error("connect ECONNREFUSED"))],
    ["the runtime answers something else", async () => await Promise.resolve(answered(302, ""))],
  ])("gives its place back where %s", async (_why, serve) => {
    const world = createWorld({ maxStreams: 1, ...(serve && { serve }) });
    for (let turn = 0; turn < 3; turn++) {
      expect(await ask(world, requestOf("/exec/ns/web/main?output=1"))).toMatchObject({ status: 500 });
    }
  });

  it("is not waited for longer than half a minute", async () => {
    const world = createWorld({ serve: async () => await new Promise(() => undefined) });
    const asking = ask(world, requestOf("/exec/ns/web/main?output=1"));
    await world.clock.advance(30_000);
    expect(await asking).toMatchObject({
      status: 500,
      body: expect.stringMatching(/^error dialing backend: .*30000 ms$/),
    });
  });

  it("is nobody's when the client has gone before it began", async () => {
    const world = createWorld({ serve: async () => await new Promise(() => undefined) });
    const controller = new AbortController();
    const asking = ask(world, requestOf("/exec/ns/web/main?output=1", { signal: controller.signal }));
    await world.clock.advance(0);
    controller.abort();
    await expect(asking).rejects.toMatchObject({ name: "AbortError" });
  });

  it("ends when the agent stops, and no other begins", async () => {
    const world = createWorld();
    const controller = new AbortController();
    const running = world.run(controller.signal);
    const { client, over } = take(await ask(world, requestOf("/exec/ns/web/main?output=1")));
    client.resume();
    controller.abort();
    await Promise.all([running, over]);
    expect(await ask(world, requestOf("/exec/ns/web/main?output=1"))).toMatchObject({ status: 503 });
  });
});

const answered = (status: number, body: string): UpgradeResult => ({
  kind: "answered",
  status,
  headers: { "content-type": "text/x", connection: "close", "x-two": ["1", "2"] },
  body: Readable.from([Buffer.from(body)]),
});

describe("what the runtime answers instead of a stream", () => {
  it("goes back as it is where it is a refusal", async () => {
    const answer = await ask(
      createWorld({ serve: async () => await Promise.resolve(answered(403, "no such token")) }),
      requestOf("/exec/ns/web/main?output=1"),
    );
    expect(answer).toMatchObject({ status: 403, headers: { "content-type": "text/x", "x-two": ["1", "2"] } });
    const { body } = answer;
    if (typeof body === "string" || !("produce" in body)) throw new Error("its length is not known");
    let got = "";
    const write = async (chunk: Buffer) => {
      got += await Promise.resolve(chunk.toString());
    };
    await body.produce({ write, signal: new AbortController().signal });
    expect(got).toBe("no such token");
  });

  it("CVE-2018-1002105, CVE-2020-8559: is no answer where it is none, and leads nowhere", async () => {
    const world = createWorld({ serve: async () => await Promise.resolve(answered(302, "")) });
    const answer = await ask(world, requestOf("/exec/ns/web/main?output=1"));
    expect(answer).toEqual({ status: 500, body: "invalid upgrade response: status code 302\n" });
    expect(world.calls).toHaveLength(1);
  });
});

describe("a client that speaks WebSockets", () => {
  const AGREED = { connection: "Upgrade", upgrade: "SPDY/3.1" };
  const WEB_SOCKET = { connection: ["Upgrade"], upgrade: ["websocket"] };

  /** The client's and the node's end of a connection, and the client's request on its way to the endpoint. */
  async function connectClient<Client>(target: string, create: (socket: Duplex) => Client) {
    const { a, b } = connectStreams();
    const client = create(a);
    const head = await readRequest(b);
    const names = ["sec-websocket-key", "sec-websocket-version", "sec-websocket-protocol"];
    const own = Object.fromEntries(names.map((name) => [name, [...head.header(name)]]));
    const request = requestOf(target, { method: "GET", headers: { ...WEB_SOCKET, ...own, "x-own": ["1"] } });
    return { client, socket: b, request };
  }

  const takeOver = async (world: ReturnType<typeof createWorld>, request: ServedRequest, socket: Duplex) => {
    const { status, body } = await ask(world, request);
    if (typeof body === "string" || !("takeOver" in body)) throw new Error(`answered with ${status}`);
    return body.takeOver(socket);
  };

  it.each(["/exec/ns/web/main?command=sh&input=1&output=1", "/attach/ns/web/debug?input=1&output=1"])(
    "of v5.channel.k8s.io has its channels as SPDY at the runtime: %s",
    async (path) => {
      const clock = createFakeClock();
      const streams = new Map<string, SpdyStream>();
      const { a, b } = connectStreams();
      const runtime = createSpdyConnection(b, {
        role: "server",
        clock,
        onStream(stream) {
          streams.set(stream.headers.get("streamtype") ?? "", stream);
          if (streams.size < 3) return;
          streams.get("stdin")?.once("data", (bytes: Buffer) => {
            streams.get("stdout")?.end(`heard ${bytes.toString()}`);
            streams.get("error")?.end();
          });
        },
      });
      const headers = { ...AGREED, "x-stream-protocol-version": "v4.channel.k8s.io" };
      const world = createWorld({
        maxStreams: 1,
        serve: async () => await Promise.resolve({ kind: "upgraded", headers, socket: a }),
      });
      const { client, request, socket } = await connectClient(path, (end) => {
        return createWebSocketClient(end, ["v5.channel.k8s.io"]);
      });
      const over = takeOver(world, request, socket);
      client.webSocket.once("open", () => client.webSocket.send(Buffer.from("\0input")));
      await client.until(() => client.channels.has(3));
      expect(String(client.channels.get(1))).toBe("heard input");
      expect(JSON.parse(String(client.channels.get(3)))).toMatchObject({ status: "Success" });
      expect(await client.closed).toBe(1000);
      await Promise.all([over, runtime.close()]);
      expect(world.calls).toMatchObject([{ method: "POST", headers: { Upgrade: "SPDY/3.1", "x-own": ["1"] } }]);
      expect(Object.keys(world.calls[0]?.headers ?? {}).join()).not.toMatch(/sec-websocket|connection/);
      // Its place is free again.
      expect(await ask(world, requestOf("/exec/ns/none/main?output=1"))).toMatchObject({ status: 404 });
      expect(await ask(world, requestOf("/exec/ns/web/main?output=1"))).not.toMatchObject({ status: 429 });
    },
  );

  it("forwards ports by the SPDY that is in its messages, whatever ports it names", async () => {
    const { a, b } = connectStreams();
    const headers = { ...AGREED, "x-stream-protocol-version": "portforward.k8s.io" };
    const world = createWorld({ serve: async () => await Promise.resolve({ kind: "upgraded", headers, socket: a }) });
    const { client, request, socket } = await connectClient("/portForward/ns/web", (end) => {
      return createTunnelClient(end, ["SPDY/3.1+portforward.k8s.io"]);
    });
    const over = takeOver(world, request, socket);
    b.once("data", (bytes: Buffer) => void b.write(`heard ${bytes.toString()}`));
    await client.until(() => client.answer().includes("\r\n\r\n"));
    expect(client.answer()).toContain("SPDY/3.1+portforward.k8s.io");
    client.send(OPCODES.binary, Buffer.from("frames"));
    await client.until(() => client.received().toString() === "heard frames");
    b.end();
    await over;
    expect(world.asked[1]).toMatchObject({ podSandboxId: "new", port: [] });
  });

  it("is told in plain HTTP why there is no container", async () => {
    const path = "/exec/ns/web/main?output=1";
    const { request } = await connectClient(path, (end) => createWebSocketClient(end, ["v5.channel.k8s.io"]));
    expect(await ask(createWorld({ running: [] }), request)).toMatchObject({ status: 500 });
  });

  it("of an older protocol speaks with the runtime itself", async () => {
    const path = "/exec/ns/web/main?output=1";
    const { request } = await connectClient(path, (end) => createWebSocketClient(end, ["v4.channel.k8s.io"]));
    const world = createWorld();
    await ask(world, request);
    expect(world.calls).toMatchObject([{ method: "GET", headers: WEB_SOCKET }]);
  });

  it("ends when the agent stops", async () => {
    const world = createWorld({ serve: async () => await new Promise(() => undefined) });
    const path = "/exec/ns/web/main?output=1";
    const { client, request, socket } = await connectClient(path, (end) => {
      return createWebSocketClient(end, ["v5.channel.k8s.io"]);
    });
    const controller = new AbortController();
    const running = world.run(controller.signal);
    const over = takeOver(world, request, socket);
    await client.until(() => client.messages.length > 0);
    controller.abort();
    await Promise.all([running, over]);
    expect(await client.closed).toBe(1001);
  });
});

describe("/run", () => {
  const run = async (ran: Partial<cri.ExecSyncResponse>, cmd = "ls++-l") => {
    const world = createWorld({ ran });
    const answer = await ask(world, requestOf(`/run/ns/web/main?cmd=${cmd}&cmd=other`, { headers: {} }));
    return { asked: world.asked[1], answer };
  };

  it("splits its command at spaces, and has all the time in the world", async () => {
    const { asked } = await run({});
    expect(asked).toMatchObject({ containerId: "new", cmd: ["ls", "", "-l"], timeout: 0n, timeoutMs: Infinity });
  });

  it("answers with what was printed, first the output and then the errors", async () => {
    const bytes = Buffer.from([0, 255, 10]);
    const { answer } = await run({ stdout: bytes, stderr: Buffer.from("e") });
    expect(answer.body).toEqual(Buffer.concat([bytes, Buffer.from("e")]));
    expect((await run({})).answer).toEqual({ status: 200, body: "" });
  });

  it("tells of a command that failed as upstream does", async () => {
    const { answer } = await run({ exitCode: 2, stdout: Buffer.from("o"), stderr: Buffer.from("no") });
    expect(answer).toEqual({ status: 500, body: "command 'ls  -l' exited with 2: no" });
  });
});
