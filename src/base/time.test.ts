import { describe, expect, it } from "vitest";
import { createFakeClock } from "../host/fake/fake-clock.ts";
import { formatTime, formatTimeNano, parseTime } from "./clock.ts";
import { repeat } from "./interval.ts";
import { createSeededRandom, jitter } from "./random.ts";

it.each([
  [0, "1970-01-01T00:00:00Z", "1970-01-01T00:00:00.000000000Z"],
  [1_767_225_599_999, "2025-12-31T23:59:59Z", "2025-12-31T23:59:59.999000000Z"],
])("%i is written %s", (ms, seconds, nanoseconds) => {
  expect(formatTime(ms)).toBe(seconds);
  expect(formatTimeNano(ms)).toBe(nanoseconds);
  expect(parseTime(nanoseconds)).toBe(ms);
});

it.each([undefined, "", "yesterday"])("%s is no time", (text) => {
  expect(parseTime(text)).toBeUndefined();
});

it.each([
  [0, 1_000],
  [0.5, 1_250],
  [0.999, 1_499.5],
])("jitter with %d makes 1000 ms to %d ms", (value, expected) => {
  expect(jitter({ next: () => value }, 1_000, 0.5)).toBe(expected);
});

it("a seed decides all that is random", () => {
  const draw = (seed: number) => {
    const random = createSeededRandom(seed);
    return Array.from({ length: 1_000 }, () => random.next());
  };
  expect(draw(1)).toEqual(draw(1));
  expect(draw(1)).not.toEqual(draw(2));
  expect(draw(1).every((value) => value >= 0 && value < 1)).toBe(true);
  const mean = draw(3).reduce((sum, value) => sum + value) / 1_000;
  expect(Math.abs(mean - 0.5)).toBeLessThan(0.05);
});

describe("repeat", () => {
  const run = (options: { delayFirst?: boolean; taskMs?: number }) => {
    const clock = createFakeClock();
    const controller = new AbortController();
    const times: number[] = [];
    const { taskMs = 0, ...rest } = options;
    const ended = repeat(clock, { periodMs: 1_000, signal: controller.signal, ...rest }, async () => {
      times.push(clock.monotonic());
      if (taskMs > 0) await new Promise<void>((resolve) => clock.setTimer(taskMs, resolve));
    }).catch((error: Error) => error.name);
    return { clock, controller, times, ended };
  };

  it.each([
    [{}, [0, 1_000, 2_000]],
    [{ delayFirst: true }, [1_000, 2_000]],
    [{ taskMs: 400 }, [0, 1_400]],
  ])("with %o runs at %o", async (options, expected) => {
    const { clock, controller, times, ended } = run(options);
    await clock.advance(2_500);
    controller.abort();
    expect(await ended).toBe("AbortError");
    expect(times).toEqual(expected);
  });
});
