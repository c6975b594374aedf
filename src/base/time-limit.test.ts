import { describe, expect, it } from "vitest";
import { createFakeClock } from "../host/fake/fake-clock.ts";
import { sleep } from "./abort.ts";
import { endsInTime, withDeadline } from "./time-limit.ts";

function createRig() {
  const clock = createFakeClock();
  const asked = new AbortController();
  const limit = { timeoutMs: 1_000, signal: asked.signal };
  const takes = (ms: number) => async (signal: AbortSignal) => await sleep(clock, ms, signal);
  return { clock, asked, limit, takes };
}

describe("a task that ends in time", () => {
  it("does, or is told to stop and does not", async () => {
    const { clock, limit, takes } = createRig();
    const [quick, slow] = [endsInTime(clock, limit, takes(999)), endsInTime(clock, limit, takes(1_001))];
    await clock.advance(2_000);
    expect(await Promise.all([quick, slow])).toEqual([true, false]);
    expect(clock.pendingTimers).toBe(0);
  });

  it("fails as it fails, and is no success when it was given up", async () => {
    const { clock, asked, limit, takes } = createRig();
    await expect(endsInTime(clock, limit, async () => Promise.reject(new Error("broken")))).rejects.toThrow("broken");
    const given = endsInTime(clock, limit, takes(500));
    asked.abort();
    await expect(given).rejects.toMatchObject({ name: "AbortError" });
    expect(clock.pendingTimers).toBe(0);
  });
});

describe("a deadline", () => {
  it("is no wait for a task that does not heed it", async () => {
    const { clock, limit } = createRig();
    const late = withDeadline(
      clock,
      { ...limit, what: "the look" },
      async () => await new Promise<void>(() => undefined),
    );
    const ended = expect(late).rejects.toMatchObject({
      code: "timed-out",
      message: "the look took longer than 1000 ms",
    });
    await clock.advance(1_000);
    await ended;
  });
});
