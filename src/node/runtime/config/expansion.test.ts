import { expect, it } from "vitest";
import { expandVariables } from "./expansion.ts";

const VARIABLES = new Map([
  ["A", "1"],
  ["B", "$(A)"],
  ["EMPTY", ""],
]);

it.each([
  ["$(A)", "1"],
  ["x$(A)y$(A)", "x1y1"],
  ["$(EMPTY)", ""],
  ["$(MISSING)", "$(MISSING)"],
  ["$$(A)", "$(A)"],
  ["$$$(A)", "$1"],
  ["$$$$(A)", "$$(A)"],
  ["$(B)", "$(A)"],
  ["$", "$"],
  ["$$", "$"],
  ["a$", "a$"],
  ["$A", "$A"],
  ["$é(A)", "$é(A)"],
  ["$(A", "$(A"],
  ["$($(A))", "$($(A))"],
  ["$(A)$(", "1$("],
  ["$()", "$()"],
])("%s becomes %s", (text, expected) => {
  expect(expandVariables(text, (name) => VARIABLES.get(name))).toBe(expected);
});
