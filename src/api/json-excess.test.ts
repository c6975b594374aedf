import { expect, it } from "vitest";
import { findJsonExcess } from "./json-excess.ts";

it.each([
  ["as many values as there may be", "[1,2,3]", undefined],
  ["one more", "[1,2,3,4]", "more than 4 values"],
  ["what is no JSON", "{", undefined],
])("finds in %s: %s", (_what, text, expected) => {
  expect(findJsonExcess(text, { maxValues: 4 })).toBe(expected);
});

it("finds levels that whatever walks the value could not come back from", () => {
  const nested = (depth: number) => "[".repeat(depth) + "]".repeat(depth);
  expect(findJsonExcess(nested(1_000), { maxValues: 100_000 })).toBeUndefined();
  expect(findJsonExcess(nested(1_001), { maxValues: 100_000 })).toBe("more than 1000 levels");
});
