import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { findChanges, formatChanges, isSame } from "./semantic-changes.ts";

describe("semantic changes", () => {
  it.each<[string, unknown, unknown]>([
    ["absent and empty lists", {}, { a: [] }],
    ["absent and empty maps", { a: {} }, {}],
    ["absent and empty texts", { a: { b: "", c: 1 } }, { a: { c: 1 } }],
    ["null and absent", { a: null }, {}],
    ["Go's zeros of fields that are values", { hostNetwork: false, ports: [{ hostPort: 0 }] }, { ports: [{}] }],
    ["fields in another order", { a: 1, b: 2 }, { b: 2, a: 1 }],
  ])("are none between %s", (_name, before, after) => {
    expect(findChanges(before, after, "x")).toEqual([]);
  });

  it.each<[string, unknown, unknown, string]>([
    ["a value", { a: { b: [1, 2] } }, { a: { b: [1, 3] } }, "- x.a.b[1]: 2\n+ x.a.b[1]: 3"],
    ["the length of a list", { a: [1] }, { a: [1, 2] }, "- x.a: [1]\n+ x.a: [1,2]"],
    ["a field that came", {}, { a: 1 }, "+ x.a: 1"],
    ["a field that went", { a: 1 }, {}, "- x.a: 1"],
    ["false where that means something", {}, { runAsNonRoot: false }, "+ x.runAsNonRoot: false"],
    ["nought where that means something", { runAsUser: 0 }, {}, "- x.runAsUser: 0"],
    ["the type", { a: [1] }, { a: { b: 1 } }, '- x.a: [1]\n+ x.a: {"b":1}'],
  ])("are %s", (_name, before, after, text) => {
    expect(formatChanges(findChanges(before, after, "x"))).toBe(text);
  });

  it("of a value and itself are none, and go both ways", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(isSame(value, structuredClone(value))).toBe(true);
      }),
    );
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (a, b) => {
        expect(isSame(a, b)).toBe(isSame(b, a));
      }),
    );
  });

  it("are listed up to ten", () => {
    const after = Object.fromEntries(Array.from({ length: 12 }, (_, index) => [`f${index}`, 1]));
    expect(
      formatChanges(findChanges({}, after, ""))
        .split("\n")
        .slice(-2),
    ).toEqual(["+ f9: 1", "  2 more"]);
  });
});
