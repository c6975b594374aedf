import { createServer, type RequestListener, type Server } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { createServer as createSocketServer, type Server as SocketServer } from "node:net";
import { Server as GrpcServer, ServerCredentials, type sendUnaryData, status } from "@grpc/grpc-js";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { AbortedError } from "../../src/base/abort.ts";
import { createFakeClock } from "../../src/host/fake/fake-clock.ts";
import { createFakeProbes, type FakeHttpAnswer } from "../../src/host/fake/fake-probes.ts";
import { networkProbes } from "../../src/host/linux/network/network-probes.ts";
import type { GrpcProbe, HttpProbe, ProbeClient } from "../../src/host/probe-port.ts";
import { issueLoopbackCertificate } from "./loopback-certificate.ts";

const NEVER = new AbortController().signal;
/** Long enough for a busy machine, where an answer is expected. */
const PATIENT_MS = 20_000;
const BRIEF_MS = 200;

interface Harness {
  readonly client: ProbeClient;
  /** What answers HTTP at this port, by path. */
  serve(answers: Readonly<Record<string, FakeHttpAnswer>>): Promise<number>;
  /** A health server that knows the services of these names; any other is `NotFound`. */
  serveHealth(services: Readonly<Record<string, number>>): Promise<number>;
  /** A port that nobody listens on. */
  freePort(): Promise<number>;
  /** Accepts connections and says nothing. */
  serveSilence(): Promise<number>;
  /** Lets time pass, where it does not by itself. */
  pass(ms: number): Promise<void>;
  close(): Promise<void>;
}

async function listen(server: Server | SocketServer): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the server has no port");
  return address.port;
}

async function createRealHarness(): Promise<Harness> {
  const closers: Array<() => Promise<unknown>> = [];
  const serveSockets = async (server: SocketServer): Promise<number> => {
    const port = await listen(server);
    closers.push(async () => await new Promise((resolve) => server.close(resolve)));
    return port;
  };
  return {
    client: networkProbes,
    async serve(answers) {
      const server = createServer(answerAll(answers));
      const port = await listen(server);
      closers.push(async () => {
        server.closeAllConnections();
        await new Promise((resolve) => server.close(resolve));
      });
      return port;
    },
    async serveHealth(services) {
      const server = new GrpcServer();
      server.addService(HEALTH_SERVICE, {
        check({ request }: { request: Buffer }, callback: sendUnaryData<Buffer>) {
          const known = services[request.subarray(2).toString("utf8")];
          if (known === undefined) callback({ code: status.NOT_FOUND, details: "unknown service" });
          else callback(null, known === 0 ? Buffer.alloc(0) : Buffer.from([8, known]));
        },
      });
      const credentials = ServerCredentials.createInsecure();
      const port = await new Promise<number>((resolve, reject) => {
        server.bindAsync("127.0.0.1:0", credentials, (error, bound) => (error ? reject(error) : resolve(bound)));
      });
      closers.push(async () => server.forceShutdown());
      return port;
    },
    async freePort() {
      const server = createSocketServer();
      const port = await listen(server);
      await new Promise((resolve) => server.close(resolve));
      return port;
    },
    async serveSilence() {
      const server = createSocketServer((socket) => {
        socket.on("error", () => undefined).resume();
        closers.unshift(async () => socket.destroy());
      });
      return await serveSockets(server);
    },
    pass: async () => undefined,
    async close() {
      for (const close of closers) await close();
    },
  };
}

const HEALTH_SERVICE = {
  check: {
    path: "/grpc.health.v1.Health/Check",
    requestStream: false,
    responseStream: false,
    requestSerialize: (bytes: Buffer) => bytes,
    requestDeserialize: (bytes: Buffer) => bytes,
    responseSerialize: (bytes: Buffer) => bytes,
    responseDeserialize: (bytes: Buffer) => bytes,
  },
};

function answerAll(answers: Readonly<Record<string, FakeHttpAnswer>>): RequestListener {
  return (request, response) => {
    const answer = answers[request.url ?? ""] ?? { status: 404 };
    if (answer === "closed") request.socket.destroy();
    else if (answer === "endless") response.writeHead(200).write("x");
    else if (answer !== "silent") response.writeHead(answer.status, { ...answer.headers }).end(answer.body ?? "");
  };
}

async function createFakeHarness(): Promise<Harness> {
  const clock = createFakeClock();
  const client = createFakeProbes(clock);
  let ports = 1_000;
  return {
    client,
    async serve(answers) {
      const port = ++ports;
      client.listen(`127.0.0.1:${port}`, { http: ({ path }) => answers[path] ?? { status: 404 } });
      return port;
    },
    async serveHealth(services) {
      const port = ++ports;
      const unknown = { kind: "failed", code: "NotFound", message: "unknown service" } as const;
      const grpc = ({ service }: GrpcProbe) => {
        const known = services[service];
        return known === undefined ? unknown : ({ kind: "status", status: known } as const);
      };
      client.listen(`127.0.0.1:${port}`, { grpc });
      return port;
    },
    freePort: async () => ++ports,
    async serveSilence() {
      const port = ++ports;
      client.listen(`127.0.0.1:${port}`, {});
      return port;
    },
    pass: async (ms) => await clock.advance(ms),
    close: async () => undefined,
  };
}

describe.each([
  ["fake", createFakeHarness],
  ["linux", createRealHarness],
])("probes: %s", (_name, createHarness) => {
  let harness: Harness;
  beforeEach(async () => {
    harness = await createHarness();
  });
  afterEach(async () => await harness.close());

  const get = async (port: number, path: string, more: Partial<HttpProbe> = {}, signal = NEVER) => {
    const target = { scheme: "http", host: "127.0.0.1", port, path } as const;
    const probe = { ...target, headers: [], timeoutMs: PATIENT_MS, maxBodyBytes: 10, ...more };
    const outcome = harness.client.http(probe, signal);
    // Only what is waited for passes on the fake's clock.
    if (more.timeoutMs !== undefined) await harness.pass(more.timeoutMs);
    return await outcome;
  };
  const check = async (port: number, service: string, timeoutMs = PATIENT_MS) => {
    const outcome = harness.client.grpc({ host: "127.0.0.1", port, service, timeoutMs, userAgent: "x" }, NEVER);
    if (timeoutMs !== PATIENT_MS) await harness.pass(timeoutMs);
    return await outcome;
  };

  it.each([200, 204, 304, 404, 500])("an answer of status %s is an answer", async (code) => {
    const port = await harness.serve({ "/": { status: code } });
    expect(await get(port, "/")).toEqual({ kind: "answered", status: code, body: Buffer.alloc(0) });
  });

  it("a body is cut where it gets too long", async () => {
    const port = await harness.serve({
      "/": { status: 200, body: "0123456789ab" },
      "/short": { status: 200, body: "0" },
    });
    expect(await get(port, "/")).toMatchObject({ status: 200, body: Buffer.from("0123456789") });
    expect(await get(port, "/short")).toMatchObject({ status: 200, body: Buffer.from("0") });
  });

  it("redirects on the same host are followed, with another port or scheme too", async () => {
    const other = await harness.serve({ "/end": { status: 201 } });
    const port = await harness.serve({
      "/": { status: 302, headers: { location: "/next" } },
      "/next": { status: 307, headers: { location: `http://127.0.0.1:${other}/end` } },
    });
    expect(await get(port, "/")).toMatchObject({ kind: "answered", status: 201 });
  });

  it("redirects elsewhere, nowhere and of other kinds are the answer", async () => {
    const port = await harness.serve({
      "/elsewhere": { status: 301, headers: { location: "http://example.invalid/" }, body: "moved" },
      "/nowhere": { status: 302 },
      "/choices": { status: 300, headers: { location: "/elsewhere" } },
    });
    expect(await get(port, "/elsewhere")).toEqual({ kind: "answered", status: 301, body: Buffer.from("moved") });
    expect(await get(port, "/nowhere")).toMatchObject({ kind: "answered", status: 302 });
    expect(await get(port, "/choices")).toMatchObject({ kind: "answered", status: 300 });
  });

  it("redirects without end are a failure", async () => {
    const port = await harness.serve({ "/": { status: 302, headers: { location: "/" } } });
    expect(await get(port, "/")).toMatchObject({
      kind: "no-answer",
      failure: { reason: "too-many-redirects", message: "stopped after 10 redirects" },
    });
  });

  it("who is not there, says nothing, does not end or hangs up is told apart", async () => {
    const port = await harness.serve({ "/silent": "silent", "/endless": "endless", "/closed": "closed" });
    const brief = { timeoutMs: BRIEF_MS };
    const free = await harness.freePort();
    expect(await get(free, "/")).toEqual({
      kind: "no-answer",
      url: `http://127.0.0.1:${free}/`,
      failure: { reason: "refused", message: expect.stringContaining("ECONNREFUSED") },
    });
    expect(await get(port, "/silent", brief)).toMatchObject({ kind: "no-answer", failure: { reason: "timeout" } });
    expect(await get(port, "/endless", brief)).toMatchObject({ kind: "broken-body", failure: { reason: "timeout" } });
    expect(await get(port, "/closed")).toMatchObject({ kind: "no-answer", failure: { reason: "closed" } });
  });

  it("an endless body that is long enough is an answer", async () => {
    const port = await harness.serve({ "/": { status: 200, body: "x".repeat(1_000_000) } });
    expect(await get(port, "/")).toMatchObject({ kind: "answered", body: Buffer.from("x".repeat(10)) });
  });

  it("an abort rejects", async () => {
    const port = await harness.serveSilence();
    const gone = new AbortController();
    const target = { host: "127.0.0.1", port, timeoutMs: PATIENT_MS };
    const outcomes = [get(port, "/", {}, gone.signal), harness.client.grpc({ ...target, ...GRPC }, gone.signal)];
    gone.abort();
    for (const outcome of outcomes) await expect(outcome).rejects.toThrow(AbortedError);
    await expect(harness.client.tcp(target, gone.signal)).rejects.toThrow(AbortedError);
  });

  it("a connection that is accepted is one", async () => {
    const tcp = async (port: number) =>
      await harness.client.tcp({ host: "127.0.0.1", port, timeoutMs: PATIENT_MS }, NEVER);
    expect(await tcp(await harness.serveSilence())).toEqual({ kind: "connected" });
    expect(await tcp(await harness.freePort())).toMatchObject({ kind: "failed", failure: { reason: "refused" } });
  });

  it("health is told by service", async () => {
    const port = await harness.serveHealth({ "": 1, down: 2, unknown: 0 });
    expect(await check(port, "")).toEqual({ kind: "status", status: 1 });
    expect(await check(port, "down")).toEqual({ kind: "status", status: 2 });
    expect(await check(port, "unknown")).toEqual({ kind: "status", status: 0 });
    expect(await check(port, "other")).toEqual({ kind: "failed", code: "NotFound", message: "unknown service" });
  });

  it("a health server that is not there is waited for until the time is over", async () => {
    expect(await check(await harness.freePort(), "", BRIEF_MS)).toEqual({ kind: "unreachable" });
  });
});

const GRPC = { service: "", userAgent: "x" };

describe("probes: on the wire", () => {
  const nothing = async () => undefined;
  let close: () => Promise<unknown> = nothing;
  afterEach(async () => {
    await close();
    close = nothing;
  });

  const start = async (server: Server): Promise<number> => {
    close = async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    };
    return await listen(server);
  };
  const probeOf = (port: number, more: Partial<HttpProbe> = {}): HttpProbe => ({
    ...{ scheme: "http", host: "127.0.0.1", port, path: "/a?b=%20", headers: [] },
    ...{ timeoutMs: PATIENT_MS, maxBodyBytes: 10_240, ...more },
  });

  it("a request has the probe's lines and asks for the connection's end", async () => {
    let head: { url: string | undefined; raw: string[] } | undefined;
    const port = await start(
      createServer(({ url, rawHeaders }, response) => {
        head = { url, raw: rawHeaders };
        response.end();
      }),
    );
    const headers = [
      ["X-A", "1"],
      ["X-A", "2"],
      ["hoSt", "example.com"],
      ["Accept", "*/*"],
    ] as const;
    await networkProbes.http(probeOf(port, { headers }), NEVER);
    expect(head).toEqual({
      url: "/a?b=%20",
      raw: ["Host", "example.com", "X-A", "1", "X-A", "2", "Accept", "*/*", "Connection", "close"],
    });
    await networkProbes.http(probeOf(port), NEVER);
    expect(head?.raw).toEqual(["Host", `127.0.0.1:${port}`, "Connection", "close"]);
  });

  it("a certificate that nobody vouches for will do; a server without one is told", async () => {
    const { serving } = await issueLoopbackCertificate();
    const port = await start(
      createTlsServer({ cert: serving.certificatePem, key: serving.keyPem }, (_request, response) =>
        response.end("ok"),
      ),
    );
    const outcome = await networkProbes.http(probeOf(port, { scheme: "https" }), NEVER);
    expect(outcome).toEqual({ kind: "answered", status: 200, body: Buffer.from("ok") });
    await close();
    const plain = await start(createServer((_request, response) => response.end()));
    const failed = await networkProbes.http(probeOf(plain, { scheme: "https" }), NEVER);
    expect(failed).toMatchObject({ kind: "no-answer", failure: { reason: "no-tls" } });
  });

  it("a server that changes protocols has answered", async () => {
    const server = createServer();
    server.on("connection", (socket) => {
      socket.once("data", () =>
        socket.write("HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n"),
      );
    });
    expect(await networkProbes.http(probeOf(await start(server)), NEVER)).toMatchObject({
      kind: "answered",
      status: 101,
    });
  });

  it("what cannot be sent is a failure, and harms nobody", async () => {
    const headers = [["X-A", "1\r\nX-B: 2"]] as const;
    const port = await start(createServer((_request, response) => response.end()));
    expect(await networkProbes.http(probeOf(port, { headers }), NEVER)).toMatchObject({ kind: "no-answer" });
    expect(await networkProbes.http(probeOf(port, { host: "not a host" }), NEVER)).toMatchObject({ kind: "no-answer" });
  });
});
