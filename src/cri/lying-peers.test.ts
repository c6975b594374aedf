import type { ServerHttp2Stream } from "node:http2";
import { afterEach, describe, expect, it, vi } from "vitest";
import {
  answerCall,
  answerForEver,
  answerTrailersOnly,
  grpcFrame,
  type Lie,
  serveLies,
} from "../grpc/__fixtures__/lying-server.ts";
import { openChannel } from "../grpc/channel.ts";
import { parseEndpoint } from "../grpc/endpoint.ts";
import { createService } from "../grpc/service.ts";
import {
  ContainerEventResponse,
  ListContainersResponse,
  RuntimeServiceDefinition,
  VersionResponse,
} from "./gen/cri-v1.ts";

/** The time-out of calls that are never answered. */
const SHORT_MS = 300;
/** The time-out of the others, which only guards against hanging. */
const LONG_MS = 60_000;
const OK = { "grpc-status": "0" };
const VERSION = grpcFrame(VersionResponse.encode(VersionResponse.fromPartial({ runtimeName: "fake" })).finish());
/** Some megabytes lie in the buffers of the kernel, of HTTP/2 and of the package. Nothing of it grows with time. */
const MAX_HELD_BYTES = 64 * 1024 * 1024;

const closers: Array<() => unknown> = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function connectTo(lie: Lie, options: { requestTimeoutMs?: number; maxAnswerBytes?: number } = {}) {
  const server = await serveLies(lie);
  closers.push(() => server.close());
  const channel = openChannel({ endpoint: parseEndpoint(server.path), requestTimeoutMs: LONG_MS, ...options });
  closers.push(() => channel.close());
  return { server, runtime: createService(RuntimeServiceDefinition, channel) };
}

describe("a peer that lies to a unary call", () => {
  it.each<[name: string, lie: Lie, code: string]>([
    ["never answers", {}, "deadline-exceeded"],
    ["answers with a status that does not exist", { onCall: trailersOnly({ "grpc-status": "999" }) }, "unknown"],
    ["answers with a status that is no number", { onCall: trailersOnly({ "grpc-status": "ok" }) }, "unknown"],
    ["says that it succeeded and sends nothing", { onCall: trailersOnly(OK) }, "unimplemented"],
    ["sends a message that is no protobuf", { onCall: answer(grpcFrame(Buffer.alloc(9, 255))) }, "internal"],
    ["announces 4 GiB", { onCall: answer(grpcFrame(Buffer.alloc(99), 2 ** 32 - 1)) }, "resource-exhausted"],
    ["answers a thousand times", { onCall: answer(Buffer.concat(Array(1000).fill(VERSION))) }, "deadline-exceeded"],
    ["breaks off within a message", { onCall: answer(grpcFrame(Buffer.alloc(9), 99)) }, "unimplemented"],
    [
      "sends one byte and no more",
      { onCall: (call) => begin(call).write(VERSION.subarray(0, 1)) },
      "deadline-exceeded",
    ],
    [
      "redirects",
      { onCall: (call) => call.respond({ ":status": 302, location: "/" }, { endStream: true }) },
      "unknown",
    ],
    ["refuses every stream", { onCall: (call) => call.close(7) }, "unavailable"],
    ["goes away from every connection at once", { onSession: (session) => session.goaway(0, 0) }, "unavailable"],
    ["hangs up on every connection", { onSession: (session) => session.destroy() }, "unavailable"],
  ])("that %s", async (_name, lie, code) => {
    const { server, runtime } = await connectTo(
      lie,
      code === "deadline-exceeded" ? { requestTimeoutMs: SHORT_MS } : {},
    );
    await expect(runtime.version({ version: "" })).rejects.toMatchObject({ name: "GrpcError", code });
    // A call is made again once at most, however often the peer goes away.
    expect(server.sessions).toBeLessThanOrEqual(3);
  });

  it("that sends without end: no more is taken than one message may have", async () => {
    const maxAnswerBytes = 1024 * 1024;
    const onCall: Answer = (call) => answerForEver(call, grpcFrame(Buffer.alloc(64 * 1024), 2 * maxAnswerBytes));
    const { server, runtime } = await connectTo({ onCall }, { maxAnswerBytes });
    const call = runtime.listContainers({ filter: undefined });
    await expect(call).rejects.toMatchObject({ code: "resource-exhausted" });
    expect(server.bytesSent).toBeLessThan(MAX_HELD_BYTES);
  });

  it("that answers with more than the connection takes", async () => {
    const containers = Array.from({ length: 100 }, (_, index) => ({ id: `${index}`.padStart(64, "0") }));
    const list = ListContainersResponse.encode(ListContainersResponse.fromPartial({ containers })).finish();
    const { runtime } = await connectTo({ onCall: answer(grpcFrame(list)) }, { maxAnswerBytes: list.length - 1 });
    await expect(runtime.listContainers({ filter: undefined })).rejects.toMatchObject({ code: "resource-exhausted" });
  });
});

describe("a peer that lies on a stream", () => {
  it("that sends without end is held up while nobody reads", async () => {
    const event = ContainerEventResponse.fromPartial({ containerId: "x".repeat(64 * 1024) });
    const frame = grpcFrame(ContainerEventResponse.encode(event).finish());
    const { server, runtime } = await connectTo({ onCall: (call) => answerForEver(call, frame) });
    const events = runtime.getContainerEvents({})[Symbol.asyncIterator]();
    expect((await events.next()).done).toBe(false);
    let before = -1;
    const isHeldUp = () => {
      const isQuiet = server.bytesSent === before;
      before = server.bytesSent;
      return isQuiet || before > MAX_HELD_BYTES;
    };
    await vi.waitUntil(isHeldUp, { interval: SHORT_MS, timeout: LONG_MS });
    expect(server.bytesSent).toBeLessThan(MAX_HELD_BYTES);
    await events.return?.();
  });
});

it.each([2 ** 31, 2 ** 53, Number.MAX_VALUE])("a time-out of %d ms does not end this process", async (timeoutMs) => {
  const { runtime } = await connectTo({ onCall: answer(VERSION) });
  // The package would reject where nobody can catch it.
  await expect(runtime.version({ version: "" }, { timeoutMs })).resolves.toMatchObject({ runtimeName: "fake" });
});

type Answer = NonNullable<Lie["onCall"]>;

function answer(body: Buffer): Answer {
  return (call) => answerCall(call, body, OK);
}

function trailersOnly(trailers: Record<string, string>): Answer {
  return (call) => answerTrailersOnly(call, trailers);
}

function begin(call: ServerHttp2Stream): ServerHttp2Stream {
  call.respond({ ":status": 200, "content-type": "application/grpc" });
  return call;
}
