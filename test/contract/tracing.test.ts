import { setTimeout as delay } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import type { Log } from "../../src/base/log.ts";
import { inSpan } from "../../src/base/tracing.ts";
import { systemClock } from "../../src/host/linux/system/system-clock.ts";
import { MAX_WAITING_SPANS, type OpenedTracing, openTracing } from "../../src/tracing/open-tracing.ts";
import { startCollector, type TestCollector } from "../collector.ts";

const ALL = 1_000_000;
const closers: Array<() => Promise<void>> = [];

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function collect(options: Parameters<typeof startCollector>[0] = {}): Promise<TestCollector> {
  const collector = await startCollector(options);
  closers.push(collector.close);
  return collector;
}

function open(endpoint: string, samplingRatePerMillion?: number): { tracing: OpenedTracing; said: string[] } {
  const said: string[] = [];
  const say = (message: string) => void said.push(message);
  const log: Log = { error: say, warn: say, info: say, debug: () => undefined, with: () => log };
  const options = { endpoint, samplingRatePerMillion, hostName: "node-1" };
  const tracing = openTracing({ clock: systemClock, log }, options);
  closers.push(tracing.close);
  return { tracing, said };
}

const nothing = async () => await Promise.resolve();

describe("spans", () => {
  it("make a tree with what begins within them, also after waiting", async () => {
    const collector = await collect();
    const { tracing } = open(`127.0.0.1:${collector.port}`, ALL);
    await inSpan(tracing, { name: "sync", isRoot: true, attributes: { "k8s.pod": "a/b" } }, async () => {
      await delay(1);
      await inSpan(tracing, { name: "call", kind: "client" }, nothing);
    });
    await tracing.close();
    const [call, sync] = collector.spans;
    expect(sync).toMatchObject({ name: "sync", kind: 1, parentSpanId: "", attributes: { "k8s.pod": "a/b" } });
    expect(call).toMatchObject({ name: "call", kind: 3, parentSpanId: sync?.spanId, traceId: sync?.traceId });
    expect(sync?.resource).toEqual({ "service.name": "kubelet", "host.name": "node-1" });
  });

  it("are not beneath one that has ended, nor beneath one where a trace of its own begins", async () => {
    const collector = await collect();
    const { tracing } = open(`dns:///127.0.0.1:${collector.port}`, ALL);
    let late = Promise.resolve();
    await inSpan(tracing, { name: "outer" }, async () => {
      await inSpan(tracing, { name: "own", isRoot: true }, nothing);
      late = delay(20).then(async () => await inSpan(tracing, { name: "late" }, nothing));
    });
    await late;
    await tracing.close();
    expect(collector.spans.map(({ name, parentSpanId }) => [name, parentSpanId])).toEqual([
      ["own", ""],
      ["outer", ""],
      ["late", ""],
    ]);
  });

  it("carry their context in headers, link a client's and tell failures", async () => {
    const collector = await collect();
    const { tracing } = open(`127.0.0.1:${collector.port}`, ALL);
    const theirs = "0af7651916cd43dd8448eb211c80319c";
    const linkedWith = { traceparent: `00-${theirs}-b7ad6b7169203331-01` };
    const span = tracing.begin({ name: "served", kind: "server", isRoot: true, linkedWith });
    span.end("broken");
    span.end();
    await tracing.close();
    const [told] = collector.spans;
    expect(span.headers["traceparent"]).toBe(`00-${told?.traceId}-${told?.spanId}-01`);
    expect(told).toMatchObject({ kind: 2, links: [theirs], status: 2 });
    expect(collector.spans).toHaveLength(1);
  });

  it.each([undefined, 0])("are told of no trace at a rate of %s", async (rate) => {
    const collector = await collect();
    const { tracing } = open(`127.0.0.1:${collector.port}`, rate);
    const span = tracing.begin({ name: "sync" });
    span.end();
    await tracing.close();
    expect(span.headers["traceparent"]).toMatch(/-00$/);
    expect(collector.spans).toEqual([]);
  });
});

describe("a collector", () => {
  it("that is not there is told of once; what waits is dropped, and nobody waits", async () => {
    const { port, close } = await startCollector();
    await close();
    const { tracing, said } = open(`127.0.0.1:${port}`, ALL);
    for (let count = 0; count < 3 * MAX_WAITING_SPANS; count++) tracing.begin({ name: "sync" }).end();
    await expect.poll(() => said).toHaveLength(1);
    expect(said[0]).toMatch(/^Spans are lost, because the collector of tracing.endpoint does not take them/);
    const back = await collect({ port });
    tracing.begin({ name: "later" }).end();
    await back.until((spans) => spans.some(({ name }) => name === "later"), 60_000);
    expect(back.spans.length).toBeLessThanOrEqual(MAX_WAITING_SPANS + 1);
    await expect.poll(() => said).toHaveLength(2);
    expect(said[1]).toBe("Spans arrive at the collector again");
  });

  it("that never answers does not hold the end up", async () => {
    const collector = await collect({ manner: "hangs" });
    const { tracing } = open(`127.0.0.1:${collector.port}`, ALL);
    tracing.begin({ name: "sync" }).end();
    await tracing.close();
    expect(collector.spans).toEqual([]);
  });
});
