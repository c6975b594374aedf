import { describe, expect, it } from "vitest";
import { createCpuRates } from "./cpu-rates.ts";

const SECOND = 1_000;
const CORE = 1_000_000_000;
const sample = (seconds: number, usedSeconds: number) => ({
  at: seconds * SECOND,
  usageNanoseconds: Math.round(usedSeconds * CORE),
});

describe("the rate of a counter", () => {
  it.each<[string, Array<[at: number, used: number]>, number | undefined]>([
    ["is unknown after one reading", [[0, 5]], undefined],
    [
      "is the mean since the reading before",
      [
        [0, 5],
        [10, 10],
      ],
      0.5,
    ],
    [
      "is of the last period for who asks regularly",
      [
        [0, 0],
        [10, 10],
        [20, 11],
      ],
      0.1,
    ],
    [
      "is there after a tenth of a second",
      [
        [0, 5],
        [0.1, 5.05],
      ],
      0.5,
    ],
    [
      "is not of less than a tenth of a second",
      [
        [0, 5],
        [0.05, 5.05],
      ],
      undefined,
    ],
    [
      "is over all of the last period for who asks again at once",
      [
        [0, 0],
        [10, 5],
        [10.05, 5.025],
      ],
      0.5,
    ],
    [
      "is over at least five seconds for who asks each second",
      [
        [0, 0],
        [5, 0],
        [6, 1],
        [7, 2],
        [8, 3],
      ],
      0.375,
    ],
    [
      "begins anew after a long silence",
      [
        [0, 0],
        [121, 60],
      ],
      undefined,
    ],
    [
      "begins anew with a counter that went back",
      [
        [0, 50],
        [10, 1],
      ],
      undefined,
    ],
    [
      "is 0 for what does nothing",
      [
        [0, 5],
        [10, 5],
      ],
      0,
    ],
  ])("%s", (_case, samples, expected) => {
    const rates = createCpuRates();
    let rate: number | undefined;
    for (const [at, used] of samples) rate = rates.observe("pod", sample(at, used));
    expect(rate).toBe(expected === undefined ? undefined : expected * CORE);
  });

  it("of a young counter is its own mean, until there are two readings", () => {
    const rates = createCpuRates();
    expect(rates.observe("pod", sample(100, 4), 8 * SECOND)).toBe(0.5 * CORE);
    expect(rates.observe("pod", sample(110, 4.5), 18 * SECOND)).toBe(0.05 * CORE);
    expect(rates.observe("old", sample(110, 4.5), 3_600 * SECOND)).toBeUndefined();
    expect(rates.observe("new", sample(110, 4.5), 10)).toBeUndefined();
  });

  it("is each counter's own, and forgotten when it is not read any more", () => {
    const rates = createCpuRates();
    rates.observe("a", sample(0, 0));
    rates.observe("b", sample(0, 0));
    rates.observe("a", sample(10, 10));
    rates.forget(5 * SECOND);
    expect(rates.size).toBe(1);
    expect(rates.observe("b", sample(10, 10))).toBeUndefined();
    expect(rates.observe("a", sample(20, 10))).toBe(0);
  });
});
