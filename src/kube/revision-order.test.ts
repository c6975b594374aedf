import { expect, it } from "vitest";
import { isOlderRevision } from "./revision-order.ts";

it.each<[string, string, boolean]>([
  ["9", "10", true],
  ["10", "9", false],
  ["10", "10", false],
  ["9007199254740992", "9007199254740993", true],
  ["", "10", false],
  ["10", "", false],
  ["v9", "10", false],
  ["-1", "10", false],
  ["9".repeat(21), "10", false],
])("%j before %j: %s", (a, b, expected) => expect(isOlderRevision(a, b)).toBe(expected));
