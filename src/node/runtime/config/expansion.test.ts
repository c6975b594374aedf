import { expect, it } from "vitest";
import { expandVariables, MAX_TEXT_BYTES } from "./expansion.ts";

const VARIABLES = new Map([
  ["A", "1"],
  ["B", "$(A)"],
  ["EMPTY", ""],
]);

it("expands to what a program can be given, and to no more", () => {
  const longest = "x".repeat(MAX_TEXT_BYTES / 4);
  const lookup = (name: string) => (name === "X" ? longest : undefined);
  expect(expandVariables("$(X)$(X)$(X)$(X)", lookup)).toHaveLength(MAX_TEXT_BYTES);
  expect(expandVariables("$(X)$(X)$(X)$(X).", lookup)).toBeUndefined();
  expect(expandVariables("$(X)".repeat(100_000), lookup)).toBeUndefined();
  expect(expandVariables("é".repeat(MAX_TEXT_BYTES / 2), lookup)).toHaveLength(MAX_TEXT_BYTES / 2);
  expect(expandVariables(`.${"é".repeat(MAX_TEXT_BYTES / 2)}`, lookup)).toBeUndefined();
});

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
