import { describe, expect, it } from "vitest";
import { milliCpuToQuota, milliCpuToShares } from "./cpu-shares.ts";

describe("milliCpuToShares", () => {
  it.each([
    { milliCpu: 0n, shares: 2n, why: "no request gets the kernel's minimum" },
    { milliCpu: 1n, shares: 2n, why: "a tiny request gets the minimum too" },
    { milliCpu: 100n, shares: 102n, why: "fractions are cut" },
    { milliCpu: 1000n, shares: 1024n, why: "one core" },
    { milliCpu: 1_000_000n, shares: 262_144n, why: "the kernel's maximum" },
  ])("$why", ({ milliCpu, shares }) => {
    expect(milliCpuToShares(milliCpu)).toBe(shares);
  });
});

describe("milliCpuToQuota", () => {
  it.each([
    { milliCpu: 0n, period: 100_000n, quota: 0n, why: "no limit, no quota" },
    { milliCpu: 1n, period: 100_000n, quota: 1000n, why: "at least a millisecond" },
    { milliCpu: 1500n, period: 100_000n, quota: 150_000n, why: "more than one core" },
    { milliCpu: 500n, period: 10_000n, quota: 5000n, why: "follows the period" },
  ])("$why", ({ milliCpu, period, quota }) => {
    expect(milliCpuToQuota(milliCpu, period)).toBe(quota);
  });
});
