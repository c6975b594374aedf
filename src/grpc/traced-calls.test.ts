import { expect, it } from "vitest";
import { recordTracing } from "../base/__fixtures__/record-tracing.ts";
import { AbortedError } from "../base/abort.ts";
import { type CallOptions, GrpcError } from "./port.ts";
import type { Rpc, RpcCaller } from "./service.ts";
import { traceCalls } from "./traced-calls.ts";

const codec = { encode: () => ({ finish: () => new Uint8Array() }), decode: () => undefined };
const RPC: Rpc = {
  service: "runtime.v1.RuntimeService",
  key: "runPodSandbox",
  method: { name: "RunPodSandbox", requestType: codec, responseType: codec, responseStream: false },
};
const NAME = "runtime.v1.RuntimeService/RunPodSandbox";

function setUp(fails?: Error) {
  const sent: CallOptions[] = [];
  const caller: RpcCaller = {
    async unary(_rpc, _request, options) {
      sent.push(options);
      if (fails) throw fails;
      return await Promise.resolve("answer");
    },
    async *stream(_rpc, _request, options) {
      sent.push(options);
      yield await Promise.resolve(1);
      yield 2;
      if (fails) throw fails;
    },
  };
  const { tracing, spans } = recordTracing();
  return { caller, sent, spans, traced: traceCalls(caller, tracing) };
}

it("is the caller itself without tracing", () => {
  const { caller } = setUp();
  expect(traceCalls(caller, undefined)).toBe(caller);
});

it("makes a span of a call and sends its context beside what the caller sends", async () => {
  const { traced, sent, spans } = setUp();
  expect(await traced.unary(RPC, {}, { timeoutMs: 5, metadata: { own: "x" } })).toBe("answer");
  expect(sent).toEqual([{ timeoutMs: 5, metadata: { own: "x", traceparent: "span-0" } }]);
  const attributes = { "rpc.system.name": "grpc", "rpc.method": NAME, "rpc.response.status_code": "OK" };
  expect(spans).toMatchObject([{ start: { name: NAME, kind: "client" }, attributes, end: "well" }]);
});

it.each([
  [new GrpcError("not-found", { rpc: "RunPodSandbox", endpoint: "unix:///x", detail: "no such pod" }), "NotFound"],
  [new AbortedError(), "Canceled"],
  [new Error("broken"), "Unknown"],
])("tells how a call failed: %s", async (error, code) => {
  const { traced, spans } = setUp(error);
  await expect(traced.unary(RPC, {}, {})).rejects.toBe(error);
  expect(spans).toMatchObject([
    { attributes: { "rpc.response.status_code": code }, end: { failure: expect.stringContaining(error.message) } },
  ]);
});

it("ends a stream's span with the stream, also where its reader leaves", async () => {
  const { traced, spans } = setUp();
  const read: unknown[] = [];
  for await (const message of traced.stream(RPC, {}, {})) read.push([message, spans[0]?.end]);
  expect(read).toEqual([
    [1, "open"],
    [2, "open"],
  ]);
  for await (const _ of traced.stream(RPC, {}, {})) break;
  expect(spans.map(({ end }) => end)).toEqual(["well", "well"]);
});

it("tells that a stream broke", async () => {
  const { traced, spans } = setUp(new Error("broken"));
  const read = async () => {
    for await (const _ of traced.stream(RPC, {}, {}));
  };
  await expect(read()).rejects.toThrow("broken");
  expect(spans).toMatchObject([{ end: { failure: "broken" } }]);
});
