import { describe, expect, it } from "vitest";
import { computeBackOff, createBackOff } from "./back-off.ts";

const OPTIONS = { initialMs: 10_000, maxMs: 300_000 };

describe("a back-off", () => {
  it("doubles with every attempt, up to the longest", () => {
    const backOff = createBackOff(OPTIONS);
    const delays: number[] = [];
    for (let now = 0, attempt = 0; attempt < 8; attempt++) {
      const delay = backOff.next("a", now, now);
      delays.push(delay / 1000);
      now += delay;
    }
    expect(delays).toEqual([10, 20, 40, 80, 160, 300, 300, 300]);
  });

  it("counts the wait from the end of the attempt", () => {
    const backOff = createBackOff(OPTIONS);
    backOff.next("a", 0, 0);
    expect(backOff.waitUntil("a", 3_000, 3_000)).toBe(13_000);
    expect(backOff.waitUntil("a", 3_000, 12_999)).toBe(13_000);
    expect(backOff.waitUntil("a", 3_000, 13_000)).toBeUndefined();
  });

  it("does not hold back a key that never failed, nor another", () => {
    const backOff = createBackOff(OPTIONS);
    backOff.next("a", 0, 0);
    expect(backOff.waitUntil("b", 0, 0)).toBeUndefined();
    expect(backOff.delay("b")).toBe(0);
  });

  it.each([
    [600_000, 20_000],
    [600_001, 10_000],
  ])("after an attempt that lasted %i ms waits %i ms", (lasted, expected) => {
    const backOff = createBackOff(OPTIONS);
    backOff.next("a", 0, 0);
    expect(backOff.waitUntil("a", lasted, lasted) === undefined).toBe(expected === 10_000);
    expect(backOff.next("a", lasted, lasted)).toBe(expected);
    expect(backOff.delay("a")).toBe(expected);
  });

  it("starts over when it is told to", () => {
    const backOff = createBackOff(OPTIONS);
    backOff.next("a", 0, 0);
    backOff.next("a", 0, 0);
    backOff.reset("a");
    expect(backOff.delay("a")).toBe(0);
    expect(backOff.next("a", 0, 0)).toBe(10_000);
  });

  it("forgets all keys of one prefix and no others", () => {
    const backOff = createBackOff(OPTIONS);
    for (const key of ["a/1", "a/2", "ab/1"]) backOff.next(key, 0, 0);
    backOff.resetAll("a/");
    expect(["a/1", "a/2", "ab/1"].map(backOff.delay)).toEqual([0, 0, 10_000]);
  });

  it("forgets a key only when no wait for it can be under way", () => {
    const backOff = createBackOff({ ...OPTIONS, resetMs: 60_000 });
    backOff.next("a", 0, 0);
    expect(backOff.collect(360_000)).toBe(1);
    expect(backOff.collect(360_001)).toBe(0);
  });
});

it.each([
  [0, 100],
  [1, 100],
  [2, 200],
  [5, 1_000],
  [5_000, 1_000],
])("after %i failures in a row the delay is %i ms", (failures, delayMs) => {
  expect(computeBackOff(failures, { initialMs: 100, maxMs: 1_000 })).toBe(delayMs);
});
