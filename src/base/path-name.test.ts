import { expect, it } from "vitest";
import { isPathName } from "./path-name.ts";

it.each(["a", "a.b_c-d", "...", "\n", "x".repeat(253)])("%j is a name", (text) => {
  expect(isPathName(text)).toBe(true);
});

it.each(["", ".", "..", "/", "a/b", "../a", "a\0b", "x".repeat(254), undefined, 1])("%j is no name", (text) => {
  expect(isPathName(text)).toBe(false);
});
