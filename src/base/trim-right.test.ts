import { expect, it } from "vitest";
import { trimRight } from "./trim-right.ts";

it.each([
  ["a//", "a"],
  ["/a/b", "/a/b"],
  ["///", ""],
  ["", ""],
])("%j ends before its slashes: %j", (text, trimmed) => expect(trimRight(text, "/")).toBe(trimmed));
