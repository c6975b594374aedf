import { describe, expect, it } from "vitest";
import { formatDuration, parseDuration } from "./duration.ts";

describe("parseDuration follows Go", () => {
  it.each([
    ["0", 0],
    ["-0", 0],
    ["0s", 0],
    ["1m30s", 90_000],
    ["1.5h", 5_400_000],
    [".5s", 500],
    ["1.s", 1_000],
    ["100ms", 100],
    ["1500us", 1.5],
    ["2\u00b5s", 0.002],
    ["2\u03bcs", 0.002],
    ["1ns", 0.000001],
    ["-2m", -120_000],
    ["+2m", 120_000],
    ["3h0m0s", 10_800_000],
  ])("%s is %d ms", (text, ms) => expect(parseDuration(text)).toBeCloseTo(ms, 9));

  it.each(["", "1", "s", "1x", "1 s", "1s ", "--1s", "1d", ".s", "1e3s", "300000000h"])("refuses %j", (text) => {
    expect(parseDuration(text)).toBeUndefined();
  });
});

it("refuses a long text without a unit in one pass over it", () => {
  // A pattern that tries each way to cut the digits in two takes half an hour.
  expect(parseDuration("1".repeat(1_000_000))).toBeUndefined();
});

describe("formatDuration prints as Go does", () => {
  it.each([
    [0, "0s"],
    [60_000, "1m0s"],
    [90_500, "1m30.5s"],
    [100, "100ms"],
    [1.5, "1.5ms"],
    [0.002, "2\u00b5s"],
    [0.000001, "1ns"],
    [14_400_000, "4h0m0s"],
    [3_600_000.000_4, "1h0m0.0000004s"],
    [-120_000, "-2m0s"],
    [10_000, "10s"],
  ])("%d ms as %s", (ms, text) => expect(formatDuration(ms)).toBe(text));
});
