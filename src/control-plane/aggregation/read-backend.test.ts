import { Readable } from "node:stream";
import { expect, it } from "vitest";
import { AbortedError } from "../../base/abort.ts";
import { SECOND } from "../../base/clock.ts";
import type { CallWeb, WebCall } from "../../host/web-call.ts";
import { createControllerBench } from "../control-loop/__fixtures__/run-controllers.ts";
import type { Backend } from "./backends.ts";
import { createBackendReads } from "./read-backend.ts";

const QUESTION = {
  ...{ group: "custom.metrics.k8s.io", version: "v1beta2", path: "namespaces/a/services/s/hits?x=y" },
  user: { username: "hpa", groups: ["g"] },
};
const PLACE = { namespace: "kube-system", name: "adapter", port: 443 };

async function setUp(callWeb: CallWeb, isAvailable = true) {
  const bench = createControllerBench();
  const metadata = { namespace: PLACE.namespace, name: PLACE.name };
  const spec = { type: "ExternalName", externalName: "adapter.example.com" };
  await bench.create("services", { apiVersion: "v1", kind: "Service", metadata, spec });
  const registered = { groupPriorityMinimum: 1, versionPriority: 1 };
  const backend: Backend = { name: "adapter", spec: registered, service: PLACE, isAvailable };
  const backends = {
    find: () => backend,
    versions: () => [],
    version: 0,
    tell: () => undefined,
    describe: () => undefined,
  };
  const identity = { certificatePem: "front", keyPem: "key" };
  const resolveHost = async (host: string) => await Promise.resolve([`address of ${host}`]);
  const read = createBackendReads({ ...bench.deps, callWeb, identity, random: () => 0, resolveHost }, backends);
  return { ...bench, read: async () => await read(QUESTION, new AbortController().signal) };
}

const reply = (text: string) => ({ status: 200, headers: {}, body: Readable.from([Buffer.from(text)]) });

it("asks in the user's name, by our certificate", async () => {
  const calls: WebCall[] = [];
  const { read } = await setUp(async (call) => {
    calls.push(call);
    return await Promise.resolve(reply("{}"));
  });
  expect(await read()).toEqual({ kind: "answered", status: 200, text: "{}" });
  expect(calls).toMatchObject([
    {
      target: "/apis/custom.metrics.k8s.io/v1beta2/namespaces/a/services/s/hits?x=y",
      headers: { "x-remote-user": ["hpa"], "x-remote-group": ["g"] },
      tls: { cert: "front" },
    },
  ]);
});

it("asks nobody who is not available", async () => {
  const { read } = await setUp(async () => await Promise.reject(new Error("asked")), false);
  expect(await read()).toEqual({ kind: "unserved" });
});

it("reads no more than four MiB", async () => {
  const { read } = await setUp(async () => await Promise.resolve(reply("x".repeat(4 * 1024 * 1024 + 1))));
  expect(await read()).toMatchObject({ kind: "failed", message: "the answer is longer than 4194304 bytes" });
});

it("hands on no answer of a million values", async () => {
  const { read } = await setUp(async () => await Promise.resolve(reply(`[${"{},".repeat(1_000_000)}{}]`)));
  expect(await read()).toEqual({ kind: "failed", message: "the answer holds more than 250000 values" });
});

it("waits thirty seconds", async () => {
  const { read, clock } = await setUp(async (_call, signal) => {
    return await new Promise((_resolve, reject) => {
      signal.addEventListener("abort", () => reject(new AbortedError()), { once: true });
    });
  });
  const answer = read();
  await clock.advance(30 * SECOND);
  expect(await answer).toEqual({ kind: "failed", message: "reading adapter took longer than 30000 ms" });
  expect(clock.pendingTimers).toBe(0);
});
