import { describe, expect, it } from "vitest";
import { createFakeClock } from "../host/fake/fake-clock.ts";
import { createRateLimiter } from "./rate-limiter.ts";

function createCalls(options: { qps: number; burst: number }) {
  const clock = createFakeClock();
  const limiter = createRateLimiter(clock, options);
  const made: Array<[name: string, at: number]> = [];
  const call = async (name: string, signal = new AbortController().signal) => {
    await limiter.acquire(signal);
    made.push([name, clock.monotonic()]);
  };
  return { clock, made, call };
}

describe("a rate limiter", () => {
  it("lets a burst through at once and the others in their order, evenly", async () => {
    const { clock, made, call } = createCalls({ qps: 10, burst: 2 });
    const all = ["a", "b", "c", "d", "e"].map(async (name) => await call(name));
    await clock.advance(1_000);
    await Promise.all(all);
    expect(made).toEqual([
      ["a", 0],
      ["b", 0],
      ["c", 100],
      ["d", 200],
      ["e", 300],
    ]);
    expect(clock.pendingTimers).toBe(0);
  });

  it("saves up no more than the burst", async () => {
    const { clock, made, call } = createCalls({ qps: 10, burst: 2 });
    await clock.advance(60_000);
    const all = ["a", "b", "c"].map(async (name) => await call(name));
    await clock.advance(100);
    await Promise.all(all);
    expect(made.map(([, at]) => at)).toEqual([60_000, 60_000, 60_100]);
  });

  it("gives the place of one that leaves to the next", async () => {
    const { clock, made, call } = createCalls({ qps: 1, burst: 1 });
    const controller = new AbortController();
    await call("a");
    const left = call("b", controller.signal).catch((error: Error) => error.name);
    const last = call("c");
    controller.abort();
    expect(await left).toBe("AbortError");
    await clock.advance(1_000);
    await last;
    expect(made).toEqual([
      ["a", 0],
      ["c", 1_000],
    ]);
  });

  it("leaves no timer behind when everybody left", async () => {
    const { clock, call } = createCalls({ qps: 1, burst: 1 });
    const controller = new AbortController();
    await call("a");
    const left = call("b", controller.signal).catch((error: Error) => error.name);
    controller.abort();
    await left;
    expect(clock.pendingTimers).toBe(0);
  });

  it.each([0, -1])("limits nothing with %d a second", async (qps) => {
    const { clock, made, call } = createCalls({ qps, burst: 0 });
    await Promise.all(Array.from({ length: 1_000 }, async (_, index) => await call(String(index))));
    expect(made).toHaveLength(1_000);
    expect(clock.pendingTimers).toBe(0);
  });

  it("does not let in who comes with a signal that has fired", async () => {
    const { call } = createCalls({ qps: 1, burst: 1 });
    await expect(call("a", AbortSignal.abort())).rejects.toMatchObject({ name: "AbortError" });
    await call("b");
  });
});
