import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { CodedError } from "../base/errors.ts";
import { silentLog } from "../base/log.ts";
import { createMetrics } from "../base/metrics.ts";
import { serveGrpc } from "../grpc/serve.ts";
import { type HandlersOf, implement, type ServedService } from "../grpc/served-service.ts";
import type { RpcCaller } from "../grpc/service.ts";
import { createService } from "../grpc/service.ts";
import { connectCri } from "./connect.ts";
import {
  Container,
  Image,
  ImageServiceDefinition,
  PodSandbox,
  RuntimeServiceDefinition,
  VersionResponse,
} from "./gen/cri-v1.ts";
import { MAX_STREAMED_ITEMS, streamLists } from "./streamed-lists.ts";

type RuntimeHandlers = HandlersOf<typeof RuntimeServiceDefinition>;

let directory = "";
let closers: Array<() => unknown> = [];

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "nodelet-streamed-"));
});
afterEach(async () => {
  for (const close of closers.reverse()) await close();
  closers = [];
  await rm(directory, { recursive: true });
});

/** A runtime that has these calls, and what the client logs of it. */
async function connect(handlers: RuntimeHandlers, ...others: ServedService[]) {
  const path = join(directory, "cri.sock");
  const version = () => VersionResponse.fromPartial({ runtimeName: "sample", runtimeVersion: "1" });
  const server = await serveGrpc({
    path,
    services: [implement(RuntimeServiceDefinition, { version, ...handlers }), ...others],
  });
  const logged: string[] = [];
  const note = (message: string) => void logged.push(message);
  const metrics = createMetrics();
  const cri = connectCri({
    endpoint: `unix://${path}`,
    // Only a stream that nobody ends takes as long.
    requestTimeoutMs: 20_000,
    log: { ...silentLog, info: note, error: note },
    metrics,
    streamsLists: true,
  });
  closers.push(
    () => server.close(),
    () => cri.close(),
  );
  return { cri, logged, metrics };
}

const container = (id: string) => Container.fromPartial({ id });
const idsOf = (items: ReadonlyArray<{ id: string }>) => items.map(({ id }) => id);
const never = () => {
  throw new Error("a list is asked for as a stream");
};
const ofAll = { filter: undefined };

it("reads lists as streams, with their filters, and counts them as lists", async () => {
  const filters: unknown[] = [];
  const images = implement(ImageServiceDefinition, {
    listImages: never,
    async *streamImages() {
      yield { images: [Image.fromPartial({ id: "i" })] };
    },
  });
  const handlers: RuntimeHandlers = {
    listContainers: never,
    async *streamContainers({ filter }) {
      filters.push(filter?.id);
      yield { containers: [container("a"), container("b")] };
      yield { containers: [] };
      yield { containers: [container("c")] };
    },
    listPodSandbox: never,
    async *streamPodSandboxes() {
      yield { podSandboxes: [PodSandbox.fromPartial({ id: "s" })] };
    },
    async *streamContainerStats() {},
    async *streamPodSandboxStats() {},
    async *streamPodSandboxMetrics() {
      yield { podSandboxMetrics: [{ podSandboxId: "s", metrics: [], containerMetrics: [] }] };
    },
  };
  const { cri, metrics } = await connect(handlers, images);
  const filter = { id: "f", state: undefined, podSandboxId: "", labelSelector: {} };
  expect(idsOf((await cri.runtime.listContainers({ filter })).containers)).toEqual(["a", "b", "c"]);
  expect(filters).toEqual(["f"]);
  expect(idsOf((await cri.runtime.listPodSandbox(ofAll)).items)).toEqual(["s"]);
  expect((await cri.runtime.listContainerStats(ofAll)).stats).toEqual([]);
  expect((await cri.runtime.listPodSandboxStats(ofAll)).stats).toEqual([]);
  expect((await cri.runtime.listPodSandboxMetrics({})).podMetrics).toHaveLength(1);
  expect(idsOf((await cri.images.listImages(ofAll)).images)).toEqual(["i"]);
  expect(await metrics.render()).toContain('kubelet_runtime_operations_total{operation_type="list_containers"} 1');
});

it("asks a runtime without streams for lists, and tries its streams no more", async () => {
  const { cri, logged } = await connect({
    listContainers: () => ({ containers: [container("a")] }),
    listPodSandbox: () => ({ items: [PodSandbox.fromPartial({ id: "s" })] }),
    streamPodSandboxes: never,
  });
  for (let time = 0; time < 2; time++)
    expect(idsOf((await cri.runtime.listContainers(ofAll)).containers)).toEqual(["a"]);
  expect(idsOf((await cri.runtime.listPodSandbox(ofAll)).items)).toEqual(["s"]);
  expect(logged).toEqual(["The runtime does not stream lists, and is asked for them whole"]);
});

it("takes no part of a list for the whole, and asks for no list instead", async () => {
  let fails = true;
  const { cri, logged } = await connect({
    listContainers: never,
    async *streamContainers() {
      yield { containers: [container("a")] };
      if (fails) throw new CodedError("internal", "injected mid-stream error");
    },
  });
  await expect(cri.runtime.listContainers(ofAll)).rejects.toMatchObject({
    code: "internal",
    detail: "injected mid-stream error",
  });
  expect(logged).toEqual(["StreamContainers recv failed"]);
  fails = false;
  expect(idsOf((await cri.runtime.listContainers(ofAll)).containers)).toEqual(["a"]);
});

it("waits for a stream no longer than for a list", async () => {
  const { cri } = await connect({
    listContainers: never,
    async *streamContainers(_request, { signal }) {
      yield { containers: [container("a")] };
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
    },
  });
  const call = cri.runtime.listContainers(ofAll, { timeoutMs: 50 });
  await expect(call).rejects.toMatchObject({ code: "deadline-exceeded" });
});

it("gives a stream up with its signal", async () => {
  const giving = new AbortController();
  const { cri } = await connect({
    listContainers: never,
    async *streamContainers(_request, { signal }) {
      yield { containers: [container("a")] };
      giving.abort();
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
    },
  });
  await expect(cri.runtime.listContainers(ofAll, { signal: giving.signal })).rejects.toThrow("aborted");
});

it("does not believe a list without an end", async () => {
  const one = container("a");
  const containers = Array.from({ length: MAX_STREAMED_ITEMS / 10 }, () => one);
  const caller: RpcCaller = {
    unary: never,
    async *stream() {
      for (;;) yield { containers };
    },
  };
  const endless = createService(
    RuntimeServiceDefinition,
    streamLists(caller, { requestTimeoutMs: 1_000, log: silentLog }),
  );
  await expect(endless.listContainers(ofAll)).rejects.toMatchObject({ code: "resource-exhausted" });
});
