import { expect, it } from "vitest";
import type { ExplainedStep } from "./explanation.ts";
import { foldRepeats } from "./fold-repeats.ts";

const stepsOf = (text: string): ExplainedStep[] =>
  [...text].map((reason, second) => {
    const at = new Date(second * 1_000).toISOString();
    return { at, firstAt: at, count: 1, type: "Normal", reason, message: "", uid: "u" };
  });

it.each([
  ["abc", "abc"],
  ["aab", "aab"],
  ["aaab", "a(1x2)b"],
  ["xabcabcabcabcy", "xabc(3x3)y"],
  ["abababa", "ab(2x2)a"],
  ["aaaaaa", "a(1x5)"],
  ["abcabc", "abcabc"],
  ["", ""],
])("%j is told as %j", (text, expected) => {
  const told = foldRepeats(stepsOf(text)).map((one) => {
    return one.kind === "step" ? one.step.reason : `(${one.length}x${one.times})`;
  });
  expect(told.join("")).toBe(expected);
});

it("tells the last step of those that came again, and does not mix pods", () => {
  const [first, ...others] = stepsOf("aaaa");
  expect(foldRepeats([first, ...others].flatMap((step) => step ?? [])).at(-1)).toMatchObject({
    kind: "again",
    last: { at: "1970-01-01T00:00:03.000Z" },
  });
  const ofTwo = stepsOf("aaaa").map((step, index) => ({ ...step, uid: index < 2 ? "u" : "v" }));
  expect(foldRepeats(ofTwo)).toHaveLength(4);
});
