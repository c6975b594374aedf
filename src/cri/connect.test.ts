import { mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { createServer as createHttpServer } from "node:http";
import { createServer as createSocketServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Server, ServerCredentials, type ServerUnaryCall, type sendUnaryData, status } from "@grpc/grpc-js";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { silentLog } from "../base/log.ts";
import { createMetrics } from "../base/metrics.ts";
import { connectCri } from "./connect.ts";
import { ListContainersRequest, ListContainersResponse, VersionResponse } from "./gen/cri-v1.ts";
import type { Cri } from "./port.ts";

let directory = "";
let path = "";
let closers: Array<() => unknown> = [];

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "nodelet-connect-"));
  path = join(directory, "x.sock");
});
afterEach(async () => {
  for (const close of closers.reverse()) await close();
  closers = [];
  await rm(directory, { recursive: true });
});

/** The time-out only guards against hanging, because a busy machine takes seconds to carry large messages. */
const REQUEST_TIMEOUT_MS = 20_000;

function connect(requestTimeoutMs = REQUEST_TIMEOUT_MS): Cri {
  const cri = connectCri({
    endpoint: `unix://${path}`,
    requestTimeoutMs,
    log: silentLog,
    metrics: createMetrics(),
  });
  closers.push(() => cri.close());
  return cri;
}

type Answer = (request: Buffer) => Uint8Array;

/** A gRPC server that knows these methods, by their paths. */
async function serve(answers: Record<string, Answer>): Promise<{ stop(): void }> {
  const server = new Server({ "grpc.max_receive_message_length": -1, "grpc.max_send_message_length": -1 });
  for (const [method, answer] of Object.entries(answers)) {
    const identity = (bytes: Buffer) => bytes;
    const handle = (call: ServerUnaryCall<Buffer, Buffer>, reply: sendUnaryData<Buffer>) =>
      reply(null, Buffer.from(answer(call.request)));
    server.register(method, handle, identity, identity, "unary");
  }
  await new Promise<void>((resolve, reject) => {
    server.bindAsync(`unix:${path}`, ServerCredentials.createInsecure(), (error) =>
      error ? reject(error) : resolve(),
    );
  });
  const stop = () => server.forceShutdown();
  closers.push(stop);
  return { stop };
}

const version = (runtimeName: string, runtimeVersion: string) => () =>
  VersionResponse.encode(VersionResponse.fromPartial({ version: "0.1.0", runtimeName, runtimeVersion })).finish();

const readVersion = async (cri: Cri) => await cri.runtime.version({ version: "" });

describe("what is wrong with an endpoint is said clearly", () => {
  it("no socket", async () => {
    await expect(readVersion(connect())).rejects.toMatchObject({
      code: "unavailable",
      message: `Version at unix://${path}: no such socket: is the runtime running? (unavailable)`,
    });
  });

  it("a file that is no socket", async () => {
    await writeFile(path, "");
    await expect(readVersion(connect())).rejects.toMatchObject({
      code: "not-a-runtime",
      detail: "the path is not a socket",
    });
  });

  it("a socket that nobody listens on any more", async () => {
    const server = createSocketServer().listen(path);
    await new Promise((resolve) => server.once("listening", resolve));
    const moved = join(directory, "moved.sock");
    await rename(path, moved);
    await new Promise((resolve) => server.close(resolve));
    await rename(moved, path);
    const failed = readVersion(connect());
    await expect(failed).rejects.toMatchObject({ code: "unavailable" });
    await expect(failed).rejects.toThrow("nothing answers on the socket: connect ECONNREFUSED");
  });

  it("a web server", async () => {
    const server = createHttpServer((_request, response) => response.end("hello")).listen(path);
    closers.push(() => server.close());
    await new Promise((resolve) => server.once("listening", resolve));
    await expect(readVersion(connect())).rejects.toMatchObject({
      code: "not-a-runtime",
      detail: "what listens on the socket does not speak gRPC",
    });
  });

  it("a server that never says anything", async () => {
    const server = createSocketServer(() => undefined).listen(path);
    closers.push(() => server.close());
    await new Promise((resolve) => server.once("listening", resolve));
    const failed = readVersion(connect(1_000));
    await expect(failed).rejects.toMatchObject({ code: "deadline-exceeded" });
    await expect(failed).rejects.toThrow("accepts connections, but nothing answers");
  });

  it("a gRPC server without CRI", async () => {
    await serve({ "/other.Service/Method": () => new Uint8Array() });
    const failed = readVersion(connect());
    await expect(failed).rejects.toMatchObject({ code: "not-a-runtime" });
    await expect(failed).rejects.toThrow("its cri plugin is disabled");
  });

  it("a runtime that speaks v1alpha2 only", async () => {
    await serve({ "/runtime.v1alpha2.RuntimeService/Version": version("containerd", "1.4.13") });
    await expect(readVersion(connect())).rejects.toMatchObject({
      code: "unsupported-version",
      detail: "containerd 1.4.13 speaks CRI v1alpha2 only, and v1 is needed",
    });
  });

  it("a runtime that lacks an RPC", async () => {
    await serve({ "/runtime.v1.RuntimeService/Version": version("containerd", "1.6.20") });
    const { runtime, images } = connect();
    const detail = (rpc: string) => `containerd 1.6.20 does not implement ${rpc}`;
    await expect(runtime.runtimeConfig({})).rejects.toMatchObject({
      code: "unimplemented",
      detail: detail("RuntimeConfig"),
    });
    await expect(images.imageFsInfo({})).rejects.toMatchObject({
      code: "unimplemented",
      detail: detail("ImageFsInfo"),
    });
    const events = runtime.getContainerEvents({})[Symbol.asyncIterator]();
    await expect(events.next()).rejects.toMatchObject({ code: "unimplemented", detail: detail("GetContainerEvents") });
  });

  it("an endpoint that cannot be one", () => {
    const options = { endpoint: "tcp://127.0.0.1:1", log: silentLog, metrics: createMetrics() };
    expect(() => connectCri(options)).toThrow('the scheme "tcp" is not supported');
  });
});

describe("a connection", () => {
  const LIST = "/runtime.v1.RuntimeService/ListContainers";
  const MIB = 1024 * 1024;

  /** Answers with one container whose id has the length that the filter's id says. */
  const listOfSize: Answer = (request) => {
    const length = Number(ListContainersRequest.decode(request).filter?.id.slice(0, 8));
    return ListContainersResponse.encode(
      ListContainersResponse.fromPartial({ containers: [{ id: "x".repeat(length) }] }),
    ).finish();
  };
  const list = async (cri: Cri, id: string) =>
    await cri.runtime.listContainers({ filter: { id, state: undefined, podSandboxId: "", labelSelector: {} } });

  it("carries messages of up to 16 MiB both ways, and says so beyond", async () => {
    await serve({ [LIST]: listOfSize });
    const cri = connect();
    const size = String(15 * MIB).padStart(8, "0");
    const { containers } = await list(cri, size.padEnd(15 * MIB, "x"));
    expect(containers[0]?.id.length).toBe(15 * MIB);
    await expect(list(cri, String(17 * MIB).padStart(8, "0"))).rejects.toMatchObject({ code: "resource-exhausted" });
    await expect(list(cri, "1".padEnd(17 * MIB, "x"))).rejects.toMatchObject({ code: "resource-exhausted" });
  });

  // A machine that is busy may be late, but not each time.
  it("is made again within a second after the runtime restarted", { retry: 3 }, async () => {
    const answers = { "/runtime.v1.RuntimeService/Version": version("containerd", "1.6.20") };
    const cri = connect();
    const first = await serve(answers);
    await readVersion(cri);
    first.stop();
    await expect(readVersion(cri)).rejects.toMatchObject({ code: "unavailable" });
    await serve(answers);
    const startedAt = performance.now();
    const again = async (): Promise<unknown> => await readVersion(cri).catch(async () => await again());
    await again();
    expect(performance.now() - startedAt).toBeLessThan(1_000);
  });

  it("counts and times what it carries under upstream's names", async () => {
    await serve({ "/runtime.v1.RuntimeService/Version": version("containerd", "1.6.20") });
    const metrics = createMetrics();
    const cri = connectCri({ endpoint: `unix://${path}`, log: silentLog, metrics });
    closers.push(() => cri.close());
    await readVersion(cri);
    await expect(cri.runtime.status({ verbose: false })).rejects.toMatchObject({ code: "unimplemented" });
    const text = await metrics.render();
    expect(text).toContain('kubelet_runtime_operations_total{operation_type="version"} 1');
    expect(text).toContain('kubelet_runtime_operations_total{operation_type="status"} 1');
    expect(text).toContain('kubelet_runtime_operations_errors_total{operation_type="status"} 1');
    expect(text).toContain('kubelet_runtime_operations_duration_seconds_count{operation_type="version"} 1');
  });

  it("that was closed takes no calls, and ends those in flight", async () => {
    const server = createSocketServer(() => undefined).listen(path);
    closers.push(() => server.close());
    await new Promise((resolve) => server.once("listening", resolve));
    const cri = connect();
    const waiting = readVersion(cri);
    cri.close();
    await expect(waiting).rejects.toMatchObject({ code: "cancelled" });
    await expect(readVersion(cri)).rejects.toMatchObject({ code: "cancelled" });
  });
});

it("reads gRPC's status of a failed call", async () => {
  const server = new Server();
  const identity = (bytes: Buffer) => bytes;
  const refuse = (_call: ServerUnaryCall<Buffer, Buffer>, reply: sendUnaryData<Buffer>) =>
    reply({ code: status.NOT_FOUND, details: "no such container" });
  server.register("/runtime.v1.RuntimeService/ContainerStatus", refuse, identity, identity, "unary");
  await new Promise((resolve) => server.bindAsync(`unix:${path}`, ServerCredentials.createInsecure(), resolve));
  closers.push(() => server.forceShutdown());
  await expect(connect().runtime.containerStatus({ containerId: "x", verbose: false })).rejects.toMatchObject({
    code: "not-found",
    rpc: "ContainerStatus",
    detail: "no such container",
  });
});
