import { describe, expect, it } from "vitest";
import { createSeededRandom } from "../../src/base/random.ts";
import { computeMedianRatio } from "./median-ratio.ts";

/** So many values around a middle, up to a tenth of it away. */
function around(middle: number, count: number, seed: number): number[] {
  const random = createSeededRandom(seed);
  return Array.from({ length: count }, () => middle * (0.9 + 0.2 * random.next()));
}

describe("computeMedianRatio", () => {
  it("is the ratio of the medians", () => {
    expect(computeMedianRatio([1, 2, 30], [4, 4, 5])).toMatchObject({ ratio: 0.5 });
  });

  it("gives the same interval for the same values", () => {
    const [own, base] = [around(90, 20, 1), around(100, 20, 2)];
    expect(computeMedianRatio(own, base)).toEqual(computeMedianRatio(own, base));
  });

  it("has the ratio of the medians in its interval", () => {
    const { low, ratio, high } = computeMedianRatio(around(90, 20, 1), around(100, 20, 2));
    expect(low).toBeLessThanOrEqual(ratio);
    expect(high).toBeGreaterThanOrEqual(ratio);
    expect(high).toBeGreaterThan(low);
  });

  it("covers the true ratio about as often as it says", () => {
    const intervals = Array.from({ length: 200 }, (_, trial) => {
      return computeMedianRatio(around(80, 15, 2 * trial), around(100, 15, 2 * trial + 1), { resamples: 300 });
    });
    const covering = intervals.filter(({ low, high }) => low <= 0.8 && 0.8 <= high).length;
    expect(covering).toBeGreaterThan(180);
    expect(covering).toBeLessThan(200);
  });

  it("is narrow where noise meets both sides of a turn", () => {
    const noise = [1, 5, 2, 9, 3, 7, 4, 8, 6, 2.5];
    const base = noise.map((value) => value * 10);
    const own = noise.map((value) => value * 9);
    const { low, ratio, high } = computeMedianRatio(own, base);
    for (const value of [low, ratio, high]) expect(value).toBeCloseTo(0.9);
  });

  it("is as wide as its turns where they are few", () => {
    expect(computeMedianRatio([1, 2, 3], [2, 2, 2])).toEqual({ ratio: 1, low: 0.5, high: 1.5 });
  });

  it("takes nothing of nothing for no change", () => {
    expect(computeMedianRatio([0, 0], [0, 0])).toEqual({ ratio: 1, low: 1, high: 1 });
  });

  it("refuses turns that one side did not have, and none at all", () => {
    expect(() => computeMedianRatio([1, 2], [1])).toThrow("2 turns and 1");
    expect(() => computeMedianRatio([], [])).toThrow("no turns");
  });
});
