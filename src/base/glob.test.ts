import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { matchesGlob } from "./glob.ts";

describe("matchesGlob", () => {
  it.each<[pattern: string, text: string, matches: boolean]>([
    ["", "", true],
    ["", "a", false],
    ["abc", "abc", true],
    ["abc", "abcd", false],
    ["*", "", true],
    ["*", "anything", true],
    ["a*c", "abbc", true],
    ["a*c", "abbcd", false],
    ["*a*b", "xxaxxab", true],
    ["a?c", "abc", true],
    ["a?c", "ac", false],
    ["[a-c]x", "bx", true],
    ["[a-c]x", "dx", false],
    ["[^a-c]x", "dx", true],
    ["[ace]", "c", true],
    ["\\*", "*", true],
    ["\\*", "a", false],
    ["[\\]]", "]", true],
    ["[a", "a", false],
    ["a\\", "a", false],
    [".", "a", false],
  ])("%j and %j: %s", (pattern, text, matches) => {
    expect(matchesGlob(pattern, text)).toBe(matches);
  });

  it("agrees with a regular expression on stars and plain characters", () => {
    const text = fc.string({ unit: fc.constantFrom("a", "b"), maxLength: 12 });
    const pattern = fc.string({ unit: fc.constantFrom("a", "b", "*", "?"), maxLength: 8 });
    fc.assert(
      fc.property(pattern, text, (glob, subject) => {
        const expression = new RegExp(`^${glob.replaceAll("*", ".*").replaceAll("?", ".")}$`);
        expect(matchesGlob(glob, subject)).toBe(expression.test(subject));
      }),
    );
  });

  it("takes no longer for a pattern made to take long", () => {
    // A backtracking matcher would practically never finish this one.
    expect(matchesGlob("*a".repeat(500), `${"a".repeat(499)}b`)).toBe(false);
  });
});
