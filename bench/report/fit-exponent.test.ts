import { describe, expect, it } from "vitest";
import { fitExponent } from "./fit-exponent.ts";

const points = (of: (x: number) => number) => [1, 10, 100, 1_000].map((x) => ({ x, y: of(x) }));

describe("fitExponent", () => {
  it.each([
    ["what does not grow", () => 7, 0],
    ["what grows as its number does", (x: number) => 3 * x, 1],
    ["a square", (x: number) => 0.2 * x ** 2, 2],
    ["a root", (x: number) => 5 * Math.sqrt(x), 0.5],
    ["what shrinks", (x: number) => 4 / x, -1],
  ])("finds that of %s", (_, of, exponent) => {
    expect(fitExponent(points(of))).toBeCloseTo(exponent);
  });

  it("goes between points that no line meets", () => {
    expect(fitExponent([1, 2, 4].map((x, index) => ({ x, y: [1, 4, 4][index] ?? 0 })))).toBeCloseTo(1);
  });

  it("leaves out what has no logarithm", () => {
    expect(fitExponent([{ x: 0, y: 3 }, { x: 5, y: 0 }, ...points((x) => x)])).toBeCloseTo(1);
  });

  it("tells nothing of fewer than three points", () => {
    expect(fitExponent(points((x) => x).slice(0, 2))).toBeUndefined();
    expect(fitExponent(Array.from({ length: 5 }, () => ({ x: 1, y: 1 })))).toBeUndefined();
  });
});
