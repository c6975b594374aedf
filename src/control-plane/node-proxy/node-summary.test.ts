import { Readable } from "node:stream";
import { expect, it } from "vitest";
import { createFakeClock } from "../../host/fake/fake-clock.ts";
import type { WebCall } from "../../host/web-call.ts";
import { createSummaryReader } from "./node-summary.ts";

const signal = new AbortController().signal;
const NODE = {
  apiVersion: "v1",
  kind: "Node",
  metadata: { name: "n" },
  status: { addresses: [{ type: "InternalIP", address: "10.0.0.1" }] },
};

/** A node that answers so; without an answer it hangs. */
function world(answer?: { status: number; body: readonly Buffer[] }) {
  const calls: WebCall[] = [];
  const clock = createFakeClock();
  const read = createSummaryReader({
    clock,
    reader: { get: ({ name }) => (name === "n" ? NODE : undefined) },
    resolveHost: async (host) => await Promise.resolve([host]),
    identity: { certificatePem: "certificate", keyPem: "key" },
    localNode: undefined,
    async callWeb(call) {
      calls.push(call);
      if (answer === undefined) return await new Promise<never>(() => undefined);
      return await Promise.resolve({ status: answer.status, headers: {}, body: Readable.from(answer.body) });
    },
  });
  return { read, calls, clock };
}

it("asks the node for processors and memory alone, with the API server's certificate", async () => {
  const { read, calls } = world({ status: 200, body: [Buffer.from("{"), Buffer.from("}")] });
  expect(await read("n", signal)).toBe("{}");
  const target = "/stats/summary?only_cpu_and_memory=true";
  const tls = { cert: "certificate", key: "key" };
  expect(calls).toMatchObject([{ scheme: "https", host: "10.0.0.1", port: 10_250, method: "GET", target, tls }]);
});

const MEGABYTE = Buffer.alloc(1024 * 1024, " ");

it.each([
  ["refuses", { status: 403, body: [Buffer.from("not you")] }, "the node answers 403: not you"],
  ["says too much", { status: 200, body: Array<Buffer>(9).fill(MEGABYTE) }, "longer than 8388608 bytes"],
  ["counts without end", { status: 200, body: [Buffer.from("[0".padEnd(1_500_000, ",0"))] }, "more than 500000 values"],
])("fails where the node %s", async (_what, answer, message) => {
  await expect(world(answer).read("n", signal)).rejects.toThrow(message);
});

it("fails where there is no such node", async () => {
  await expect(world().read("other", signal)).rejects.toThrow("not found");
});

it("waits ten seconds for the node", async () => {
  const { read, clock } = world();
  const reading = expect(read("n", signal)).rejects.toThrow('the summary of node "n" took longer than 10000 ms');
  await clock.advance(10_000);
  await reading;
});
