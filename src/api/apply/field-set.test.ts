import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  difference,
  type FieldSet,
  type FieldSetDraft,
  fieldSetOf,
  hasPath,
  insertPath,
  intersection,
  listPaths,
  recursiveDifference,
  sameSet,
  union,
} from "./field-set.ts";
import { decodeFieldsV1, encodeFieldsV1 } from "./fields-v1.ts";

const element = fc.oneof(
  fc.constantFrom("f:a", "f:b", "f:c", 'k:{"n":1}', 'k:{"n":2}', 'v:"x"'),
  fc.string({ maxLength: 3 }).map((name) => `f:${name}`),
);
const paths = fc.array(fc.array(element, { minLength: 1, maxLength: 4 }), { maxLength: 12 });
type Path = readonly string[];

function setOf(list: readonly Path[]): FieldSet {
  const set: FieldSetDraft = new Map();
  for (const path of list) insertPath(set, path);
  return set;
}

const SEPARATOR = "\u0000";
const keysOf = (list: readonly Path[]) => new Set(list.map((path) => path.join(SEPARATOR)));
const contents = (set: FieldSet) => [...keysOf(listPaths(set))].sort();
const isBelow = (path: string, roots: Set<string>) => {
  return [...roots].some((root) => path === root || path.startsWith(root + SEPARATOR));
};

describe("a set of paths", () => {
  const operations = [
    ["union", union, (a: Set<string>, b: Set<string>) => [...a, ...b]],
    ["intersection", intersection, (a: Set<string>, b: Set<string>) => [...a].filter((path) => b.has(path))],
    ["difference", difference, (a: Set<string>, b: Set<string>) => [...a].filter((path) => !b.has(path))],
    [
      "recursiveDifference",
      recursiveDifference,
      (a: Set<string>, b: Set<string>) => [...a].filter((path) => !isBelow(path, b)),
    ],
  ] as const;

  it.each(operations)(
    "%s is that of the paths, changes neither operand, and leaves no empty nodes",
    (_, operate, model) => {
      fc.assert(
        fc.property(paths, paths, (left, right) => {
          const [a, b] = [setOf(left), setOf(right)];
          const before = [contents(a), contents(b)];
          const result = operate(a, b);
          expect(contents(result)).toEqual([...new Set(model(keysOf(left), keysOf(right)))].sort());
          expect([contents(a), contents(b)]).toEqual(before);
          // Decoding never makes an empty node: a set with one would come back different.
          expect(sameSet(decodeFieldsV1(encodeFieldsV1(result)), result)).toBe(true);
        }),
      );
    },
  );

  it("is the very same when an operation changes nothing", () => {
    const a = fieldSetOf(["a.b", "c"]);
    expect(union(a, fieldSetOf(["c"]))).toBe(a);
    expect(difference(a, fieldSetOf(["a", "a.b.c", "d"]))).toBe(a);
    expect(recursiveDifference(a, fieldSetOf(["a.x", "d"]))).toBe(a);
  });

  it("knows its paths and no others", () => {
    const set = fieldSetOf(["a.b", "c"]);
    expect(hasPath(set, ["f:a", "f:b"])).toBe(true);
    for (const path of [[], ["f:a"], ["f:b"], ["f:a", "f:b", "f:c"], ["f:c", "f:a"]])
      expect(hasPath(set, path)).toBe(false);
  });
});

describe("fieldsV1", () => {
  it("writes a set and reads it back as it was", () => {
    fc.assert(
      fc.property(paths, (list) => {
        const set = setOf(list);
        const text = JSON.stringify(encodeFieldsV1(set));
        const again = decodeFieldsV1(JSON.parse(text));
        expect(sameSet(again, set)).toBe(true);
        expect(JSON.stringify(encodeFieldsV1(again))).toBe(text);
      }),
    );
  });

  it("is sorted, with the dot of a path that goes on first", () => {
    const set = setOf([["f:b", "v:10"], ["f:b", "v:9"], ["f:b"], ["f:a", 'k:{"n":10}', "f:n"], ["f:a", 'k:{"n":9}']]);
    expect(JSON.stringify(encodeFieldsV1(set))).toBe(
      String.raw`{"f:a":{"k:{\"n\":9}":{},"k:{\"n\":10}":{"f:n":{}}},"f:b":{".":{},"v:9":{},"v:10":{}}}`,
    );
  });

  it.each([
    [{}, {}],
    [{ "f:a": null }, { "f:a": {} }],
    [{ ".": {}, "f:a": {} }, { "f:a": {} }],
    [{ "f:a": { "x:unknown": { "f:b": {} } } }, { "f:a": {} }],
    [{ "f:a": { ".": {}, "x:unknown": {}, "f:b": {} } }, { "f:a": { ".": {}, "f:b": {} } }],
    [{ 'k:{"b":1,"a":2}': {} }, { 'k:{"a":2,"b":1}': {} }],
  ])("%j is read as %j", (fields, expected) => {
    expect(encodeFieldsV1(decodeFieldsV1(fields))).toEqual(expected);
  });

  it.each([{ "f:a": 1 }, { "f:a": [] }, { "f:a": "x" }, { bad: {} }, { "f:a": { "v:{": {} } }])(
    "%j is refused",
    (fields) => {
      expect(() => decodeFieldsV1(fields)).toThrow();
    },
  );
});
