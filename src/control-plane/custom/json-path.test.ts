import fc from "fast-check";
import { expect, test } from "vitest";
import { evaluateJsonPath, parseJsonPath } from "./json-path.ts";

const OBJECT = {
  metadata: { annotations: { "a.b/c": "note", "it's": "odd" } },
  spec: { list: [1, 2, 3, 4], name: "x", nested: { name: "y" } },
  status: {
    conditions: [
      { type: "Ready", status: "True", count: 3 },
      { type: "Old", status: "False", count: 1 },
      { type: "Bare]" },
    ],
  },
};

test.each<[string, unknown[]]>([
  [".spec.name", ["x"]],
  ["$.spec.name", ["x"]],
  ["spec.name", ["x"]],
  [".", [OBJECT]],
  [".spec.nothing.at.all", []],
  [".metadata.annotations.a\\.b/c", ["note"]],
  [".metadata.annotations['a.b/c']", ["note"]],
  [".metadata.annotations['it\\'s']", ["odd"]],
  [".spec['name','nested']", ["x", { name: "y" }]],
  [".spec.list[0]", [1]],
  [".spec.list[-1]", [4]],
  [".spec.list[-2]", [3]],
  [".spec.list[9]", []],
  [".spec.list[1:3]", [2, 3]],
  [".spec.list[:2]", [1, 2]],
  [".spec.list[::2]", [1, 3]],
  [".spec.list[*]", [1, 2, 3, 4]],
  [".spec.nested.*", ["y"]],
  [".spec..name", ["x", "y"]],
  ['.status.conditions[?(@.type=="Ready")].status', ["True"]],
  [".status.conditions[?(@.type=='Old')].status", ["False"]],
  [".status.conditions[?(@.type != 'Old')].type", ["Ready", "Bare]"]],
  [".status.conditions[?(@.count)].type", ["Ready", "Old"]],
  [".status.conditions[?(@.count > 1)].type", ["Ready"]],
  [".status.conditions[?(@.count<=1)].type", ["Old"]],
  [".status.conditions[?(@.type=='Bare]')].type", ["Bare]"]],
])("%s", (path, expected) => {
  const parsed = parseJsonPath(path);
  expect(parsed && evaluateJsonPath(parsed, OBJECT)).toEqual(expected);
});

test.each([".a[", ".a[b]", ".a[?(b)]", ".a b", ".a[?(@.x==)]", "{.a}"])("%s is no path", (path) => {
  expect(parseJsonPath(path)).toBeUndefined();
});

test("any text is parsed or refused in an end", () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(..."$.[]*?()@='\"\\:,-01ab ") }), (text) => {
      const path = parseJsonPath(text);
      if (path) expect(Array.isArray(evaluateJsonPath(path, OBJECT))).toBe(true);
    }),
  );
});

test.each([
  ["descends again and again", `${".".repeat(40)}name`],
  ["descends between names", `${"..*".repeat(40)}`],
  ["descends in the conditions of its conditions", nestedFilter(40)],
])("a path that %s ends with nothing found", (_what, text) => {
  const deep = Array.from({ length: 50 }).reduce<unknown>((inner) => ({ name: "x", inner, other: inner }), {
    name: "y",
  });
  const path = parseJsonPath(text);
  expect(path).toBeDefined();
  expect(evaluateJsonPath(path ?? [], deep)).toEqual([]);
});

function nestedFilter(depth: number): string {
  return depth === 0 ? "..name" : `..[?(@${nestedFilter(depth - 1)})]`;
}

test("a path descends into an object as deep as any that is stored", () => {
  const deep = Array.from({ length: 9_000 }).reduce<unknown>((inner) => ({ inner }), { name: "x" });
  expect(evaluateJsonPath(parseJsonPath("..name") ?? [], deep)).toEqual(["x"]);
});

test.each([`.${"[?(@".repeat(5_000)}`, ".a".repeat(501), `.[?(@.a${" ".repeat(100_000)}=1)]`])(
  "a path that is longer than any that is meant is none",
  (text) => expect(parseJsonPath(text)).toBeUndefined(),
);
