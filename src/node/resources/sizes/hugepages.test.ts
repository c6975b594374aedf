import { expect, it } from "vitest";
import { computeHugepageLimits } from "./hugepages.ts";

it.each([
  { why: "a size without a limit is limited to nothing", limits: {}, expected: [0n, 0n, 0n] },
  { why: "sizes match by amount", limits: { "hugepages-2Mi": "64Mi", memory: "1Gi" }, expected: [67_108_864n, 0n, 0n] },
  { why: "however they are written", limits: { "hugepages-1024Mi": "1Gi" }, expected: [0n, 1_073_741_824n, 0n] },
  { why: "small pages too", limits: { "hugepages-64Ki": "128Ki" }, expected: [0n, 0n, 131_072n] },
  { why: "a size that the machine lacks is left out", limits: { "hugepages-32Mi": "64Mi" }, expected: [0n, 0n, 0n] },
])("$why", ({ limits, expected }) => {
  const sizes = ["2MB", "1GB", "64KB"];
  const computed = computeHugepageLimits(limits, sizes);
  expect(computed).toEqual(sizes.map((pageSize, index) => ({ pageSize, limit: expected[index] })));
});
