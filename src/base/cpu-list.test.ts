import { describe, expect, it } from "vitest";
import { formatCpuList, parseCpuList } from "./cpu-list.ts";

describe("a list of CPUs", () => {
  it.each([
    ["", []],
    ["3", [3]],
    ["0-3,8", [0, 1, 2, 3, 8]],
  ])("%j is read and written", (text, cpus) => {
    expect(parseCpuList(text)).toEqual(new Set(cpus));
    expect(formatCpuList(new Set(cpus))).toBe(text);
  });

  it("is written in order, whatever the order of the set", () => {
    expect(formatCpuList(new Set([9, 1, 0, 2]))).toBe("0-2,9");
  });

  it.each(["a", "1-", "3-1", "1,,2", "0-99999", " 1"])("is not %j", (text) => {
    expect(parseCpuList(text)).toBeUndefined();
  });
});
