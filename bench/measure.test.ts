import { describe, expect, it } from "vitest";
import { computeRatio } from "./measure.ts";
import { summarize } from "./stats.ts";

describe("computeRatio", () => {
  it("compares medians and p99s", () => {
    expect(computeRatio(summarize([2, 2, 6]), summarize([1, 4, 4]))).toEqual({ median: 0.5, p99: 1.5 });
  });

  it("compares nothing with zero, which an idle program takes of a processor", () => {
    expect(computeRatio(summarize([1]), summarize([0]))).toBeUndefined();
    expect(computeRatio(summarize([0]), summarize([0]))).toBeUndefined();
  });
});
