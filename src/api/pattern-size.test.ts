import { describe, expect, it } from "vitest";
import { compilePattern } from "./go-pattern.ts";
import { estimatePatternSize } from "./pattern-size.ts";

describe("the states of a pattern", () => {
  it.each<[string, number]>([
    ["", 0],
    ["abc", 3],
    ["a{3}", 3],
    ["a{2,5}b", 6],
    ["a{4,}", 4],
    ["(ab){10}", 40],
    ["((a{10}){10}){10}", 1_220],
    ["[a-z0-9]{63}", 63],
    ["[^\\]\\d]{2}", 2],
    ["[[:alpha:]-]{2}", 2],
    ["\\p{L}{7}", 7],
    ["\\{3\\}", 3],
    ["a{,3}", 5],
    ["(((", 0],
    ["[abc", 1],
  ])("%j are about %i", (pattern, size) => {
    expect(estimatePatternSize(pattern)).toBe(size);
  });
});

describe("a pattern", () => {
  it.each<[string, string]>([
    ["a?".repeat(512 * 1024), "more than 4096 characters"],
    ["(a{1,100}){1,100}", "more than 3000 states"],
    ["a{1000}".repeat(4), "more than 3000 states"],
    ["[\\p{L}\\d_-]{1,900}".repeat(200), "more than 3000 states"],
  ])("is not compiled where it costs too much", (pattern, problem) => {
    expect(compilePattern(pattern)).toEqual({ problem: expect.stringContaining(problem) });
  });

  it.each(["^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)*$", "^.{1,1000}$"])(
    "%j is",
    (pattern) => {
      expect(compilePattern(pattern)).toHaveProperty("matches");
    },
  );
});
