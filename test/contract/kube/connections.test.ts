import { describe, expect, it } from "vitest";
import { NODES, PODS } from "../../../src/api/kube-resource.ts";
import { startWatch } from "./client-under-test.ts";
import { startMuteProxy } from "./mute-proxy.ts";
import { getNode, until, useSmallWorld } from "./small-client.ts";
import { answerJson, NODE, type SmallResponse, startBody } from "./small-server.ts";

const world = useSmallWorld();
const pod = (name: string) => ({ apiVersion: "v1", kind: "Pod", metadata: { name, resourceVersion: "2" } });
const added = (name: string) => `${JSON.stringify({ type: "ADDED", object: pod(name) })}\n`;
const isWatch = (url: string) => url.includes("watch=true");

/** Answers calls, and keeps watches open. */
const serveAll = (watches: SmallResponse[] = []) => {
  return ({ url }: { url: string }, response: SmallResponse) => {
    if (!isWatch(url)) {
      answerJson(response, 200, NODE);
      return;
    }
    watches.push(response);
    startBody(response, added("first"));
  };
};

describe("a connection", () => {
  it("of HTTP/2 serves many calls at once, and one after the other", async () => {
    const server = await world.serve(serveAll());
    const client = await world.connect(server.url);
    await Promise.all(Array.from({ length: 50 }, async () => await getNode(client)));
    await getNode(client);
    expect(server.openConnections).toBe(1);
    expect(server.requests).toHaveLength(51);
    expect(server.requests[0]).toMatchObject({
      httpVersion: "2.0",
      headers: { "user-agent": "small/1.0", accept: "application/json" },
    });
  });

  it.each(["http/1.1", "plain"] as const)("of a server with %s alone is kept alive", async (protocol) => {
    const server = await world.serve(serveAll(), { protocol });
    const client = await world.connect(server.url);
    for (let call = 0; call < 5; call++) await getNode(client);
    expect(new Set(server.requests.map(({ connection }) => connection)).size).toBe(1);
    await Promise.all(Array.from({ length: 20 }, async () => await getNode(client)));
    expect(server.requests.every(({ httpVersion }) => httpVersion === "1.1")).toBe(true);
    const watching = startWatch(client, PODS, { resourceVersion: "1" });
    expect(await watching.next()).toMatchObject({ type: "ADDED", object: { metadata: { name: "first" } } });
    expect(await getNode(client)).toEqual(NODE);
  });

  it("is opened beside others where a server allows few streams", async () => {
    const held: SmallResponse[] = [];
    const server = await world.serve((_, response) => held.push(response), { settings: { maxConcurrentStreams: 2 } });
    const client = await world.connect(server.url);
    const calls = Array.from({ length: 6 }, async () => await getNode(client));
    await until(() => held.length === 6);
    expect(server.openConnections).toBeGreaterThanOrEqual(3);
    for (const response of held) answerJson(response, 200, NODE);
    await Promise.all(calls);
  });

  it("of calls is not shared with watches, which may be more than a server takes", async () => {
    const watches: SmallResponse[] = [];
    const server = await world.serve(serveAll(watches), { settings: { maxConcurrentStreams: 5 } });
    const client = await world.connect(server.url);
    const watching = Array.from({ length: 30 }, () => startWatch(client, PODS, { resourceVersion: "1" }));
    await until(() => watches.length === 30);
    await getNode(client);
    expect(server.requests.filter(({ url }) => isWatch(url)).map(({ connection }) => connection)).not.toContain(
      server.requests.find(({ url }) => !isWatch(url))?.connection,
    );
    for (const { abort } of watching) abort();
  });

  it("is closed when nobody has used it for a while", async () => {
    const server = await world.serve(serveAll());
    const client = await world.connect(server.url, { transport: { idleTimeoutMs: 20 } });
    await getNode(client);
    await until(() => server.openConnections === 0);
    await getNode(client);
  });

  it("with too many requests makes the next ones wait, and not longer than their time", async () => {
    const held: SmallResponse[] = [];
    const server = await world.serve((_, response) => held.push(response), { settings: { maxConcurrentStreams: 1 } });
    const client = await world.connect(server.url, { transport: { maxConnections: 1 } });
    const first = getNode(client);
    await until(() => held.length === 1);
    await expect(getNode(client, { timeoutMs: 20 })).rejects.toMatchObject({ code: "timed-out" });
    const third = getNode(client);
    for (const response of held.splice(0)) answerJson(response, 200, NODE);
    await first;
    await until(() => held.length === 1);
    for (const response of held) answerJson(response, 200, NODE);
    await third;
  });
});

describe("a half-open connection", () => {
  it("costs a call no more than its time, and the next one has a new connection", async () => {
    const server = await world.serve(serveAll());
    const proxy = await startMuteProxy(server.port);
    world.later(() => proxy.close());
    const client = await world.connect(`https://127.0.0.1:${proxy.port}`);
    await getNode(client);
    proxy.mute();
    const call = getNode(client, { timeoutMs: 100 });
    await expect(call).rejects.toMatchObject({
      name: "KubeUnreachableError",
      code: "timed-out",
      message: `GET https://127.0.0.1:${proxy.port}/api/v1/nodes/a: no answer within 100 ms`,
    });
    expect(await getNode(client)).toEqual(NODE);
    expect(proxy.connections).toBe(2);
  });

  it("is found by a ping, for a watch that nobody else asks", async () => {
    const server = await world.serve(serveAll());
    const proxy = await startMuteProxy(server.port);
    world.later(() => proxy.close());
    const transport = { pingAfterMs: 30, pingTimeoutMs: 30 };
    const client = await world.connect(`https://127.0.0.1:${proxy.port}`, { transport });
    const watching = startWatch(client, PODS, { resourceVersion: "1" });
    await watching.next();
    proxy.mute();
    await expect(watching.ended).rejects.toMatchObject({ name: "KubeUnreachableError", code: "unreachable" });
    await getNode(client);
  });

  it("is left as soon as somebody else tells: the watch ends in order, and calls have a new connection", async () => {
    const server = await world.serve(serveAll());
    const proxy = await startMuteProxy(server.port);
    world.later(() => proxy.close());
    const client = await world.connect(`https://127.0.0.1:${proxy.port}`);
    const onUnreachable = () => client.reconnect();
    const heartbeat = await world.connect(`https://127.0.0.1:${proxy.port}`, { onUnreachable });
    const watching = startWatch(client, PODS, { resourceVersion: "1" });
    await watching.next();
    await getNode(heartbeat);
    proxy.mute();
    await expect(getNode(heartbeat, { timeoutMs: 50 })).rejects.toMatchObject({ code: "timed-out" });
    await watching.ended;
    expect(await getNode(client)).toEqual(NODE);
  });

  it("is not suspected while pings are answered", async () => {
    const watches: SmallResponse[] = [];
    const server = await world.serve(serveAll(watches));
    const client = await world.connect(server.url, { transport: { pingAfterMs: 5, pingTimeoutMs: 2_000 } });
    const watching = startWatch(client, PODS, { resourceVersion: "1" });
    await watching.next();
    let pings = 0;
    server.sessions[0]?.on("ping", () => pings++);
    await until(() => pings >= 3);
    for (const response of watches) startBody(response, added("second"));
    expect(await watching.next()).toMatchObject({ object: { metadata: { name: "second" } } });
  });

  it("is not what a slow answer means: the connection is used on", async () => {
    const held: SmallResponse[] = [];
    const server = await world.serve((request, response) => {
      if (request.headers["x"] === undefined && held.length === 0) held.push(response);
      else answerJson(response, 200, NODE);
    });
    const client = await world.connect(server.url);
    await expect(getNode(client, { timeoutMs: 50 })).rejects.toMatchObject({ code: "timed-out" });
    // The ping that was sent then has been answered when this one, sent after it, is.
    await getNode(client);
    const [session] = server.sessions;
    await until(() => session !== undefined && !session.destroyed);
    await getNode(client);
    expect(server.sessions.length).toBeLessThanOrEqual(2);
  });
});

describe("a server that goes away", () => {
  it("with GOAWAY serves what it has begun; what it has not looked at goes to another connection", async () => {
    const held: SmallResponse[] = [];
    const server = await world.serve((_, response) => {
      if (server.sessions.length === 1) held.push(response);
      else answerJson(response, 200, NODE);
    });
    const client = await world.connect(server.url);
    const begun = getNode(client);
    await until(() => held.length === 1);
    // The server has looked at stream 1 and not at 3, a write: only the server can know that the write is undone.
    server.sessions[0]?.goaway(0, 1);
    const patched = client.patch(NODES, { namespace: "", name: "a" }, { type: "merge", body: {} });
    expect(await patched).toEqual(NODE);
    for (const response of held) answerJson(response, 200, NODE);
    expect(await begun).toEqual(NODE);
    expect(server.sessions).toHaveLength(2);
  });

  it("and refuses streams is asked again, whatever it was asked for", async () => {
    let refused = 0;
    const server = await world.serve((_, response) => {
      if (refused++ === 0 && "stream" in response) response.stream.close(7);
      else answerJson(response, 201, NODE);
    });
    const client = await world.connect(server.url);
    await client.create(NODES, NODE);
    expect(server.requests).toHaveLength(2);
  });

  it("in the middle of a write leaves it undecided", async () => {
    const server = await world.serve((_, response) => {
      if ("stream" in response) response.stream.session?.destroy();
    });
    const client = await world.connect(server.url);
    await expect(client.create(NODES, NODE)).rejects.toMatchObject({
      name: "KubeUnreachableError",
      code: "unreachable",
    });
    expect(server.requests).toHaveLength(1);
  });

  it("in the middle of a read is asked again", async () => {
    const server = await world.serve((_, response) => {
      if (server.sessions.length === 1 && "stream" in response) {
        startBody(response, '{"kind":');
        setImmediate(() => server.sessions[0]?.destroy());
      } else answerJson(response, 200, NODE);
    });
    const client = await world.connect(server.url);
    expect(await getNode(client)).toEqual(NODE);
  });

  it("breaks its watches", async () => {
    const server = await world.serve(serveAll());
    const client = await world.connect(server.url);
    const watching = startWatch(client, PODS, { resourceVersion: "1" });
    await watching.next();
    server.sessions[0]?.destroy();
    await expect(watching.ended).rejects.toMatchObject({ name: "KubeUnreachableError", code: "unreachable" });
  });

  it("is not there: says the address", async () => {
    const client = await world.connect("https://127.0.0.1:1", { timeoutMs: 200 });
    const failure = await getNode(client).catch((error: unknown) => error);
    expect(failure).toMatchObject({ name: "KubeUnreachableError", code: "timed-out" });
    expect(String(failure)).toContain("ECONNREFUSED 127.0.0.1:1");
  });

  it("is another one than the authority vouches for: says so at once", async () => {
    const server = await world.serve(serveAll());
    const client = await world.connect(server.url, { connection: { authority: undefined } });
    await expect(getNode(client)).rejects.toMatchObject({
      code: "unreachable",
      message: expect.stringMatching(/certificate/),
    });
    const named = await world.connect(server.url, { connection: { tlsServerName: "other.example.com" } });
    await expect(getNode(named)).rejects.toMatchObject({ message: expect.stringContaining("other.example.com") });
    const service = await world.connect(server.url, { connection: { tlsServerName: "kubernetes.default.svc" } });
    expect(await getNode(service)).toEqual(NODE);
    const careless = await world.connect(server.url, {
      connection: { authority: undefined, insecureSkipTlsVerify: true },
    });
    expect(await getNode(careless)).toEqual(NODE);
  });
});

describe("close", () => {
  it.each(["h2", "http/1.1"] as const)("ends what is under way with %s, and leaves no connection", async (protocol) => {
    const held: SmallResponse[] = [];
    const server = await world.serve(
      (request, response) => {
        if (isWatch(request.url)) serveAll()(request, response);
        else held.push(response);
      },
      { protocol },
    );
    const client = await world.connect(server.url);
    const call = getNode(client);
    const watching = startWatch(client, PODS, { resourceVersion: "1" });
    await watching.next();
    await until(() => held.length === 1);
    await Promise.all([
      client.close(),
      expect(call).rejects.toMatchObject({ name: "AbortError" }),
      expect(watching.ended).rejects.toMatchObject({ name: "AbortError" }),
    ]);
    await until(() => server.openConnections === 0);
    await expect(getNode(client)).rejects.toMatchObject({ name: "AbortError" });
    await client.close();
  });
});
