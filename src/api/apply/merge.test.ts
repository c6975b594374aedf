import { describe, expect, it } from "vitest";
import type { ListNode, SchemaNode } from "../schema-node.ts";
import { servedNode } from "../schema-node.ts";
import { mergeApplied } from "./merge.ts";

const SCALAR: SchemaNode = { kind: "scalar" };
const UNTYPED: SchemaNode = { kind: "untyped" };
const SET: ListNode = { kind: "list", list: "set", keys: [], items: SCALAR, patch: [], mergeKey: undefined };

describe("the order of a merged list", () => {
  it.each([
    // live, applied, merged
    ["", "", ""],
    ["abc", "", "abc"],
    ["", "abc", "abc"],
    ["abc", "ab", "abc"],
    ["ab", "abc", "abc"],
    ["ab", "ba", "ba"],
    ["abc", "def", "abcdef"],
    ["abc", "cdef", "abcdef"],
    ["abcgf", "cdef", "abcgdef"],
    ["abc", "defxyz", "abcdefxyz"],
    ["cdef", "ace", "acdef"],
    ["abcxyz", "def", "abcxyzdef"],
    ["abcxyz", "defxyz", "abcdefxyz"],
    ["cagf", "cfag", "cfag"],
    ["abcd", "defa", "bcdefa"],
    ["cdefghij", "2h3e4kl", "cdfg2hij3e4kl"],
    ["abcdefghij", "1b2h3e4kl", "a1bcdfg2hij3e4kl"],
    // An object may have come to have items that are there twice.
    ["abb", "c", "abbc"],
    ["abb", "b", "ab"],
    ["bab", "b", "ba"],
  ])("of %s with %s applied is %s", (live, applied, merged) => {
    expect(mergeApplied(SET, [...live], [...applied])).toEqual([...merged]);
  });
});

describe("merging", () => {
  const map: SchemaNode = { kind: "map", atomic: false, values: UNTYPED };
  const atomic: SchemaNode = { kind: "map", atomic: true, values: SCALAR };
  it.each([
    ["a leaf is the applied one", map, { a: 1, b: 2 }, { a: 3 }, { a: 3, b: 2 }],
    ["null is a value", map, { a: 1 }, { a: null }, { a: null }],
    ["null leaves the entries of a map", map, { a: { b: 1 } }, { a: null }, { a: { b: 1 } }],
    ["an empty map leaves the entries", map, { a: { b: 1 } }, { a: {} }, { a: { b: 1 } }],
    ["an empty map stays empty", map, { a: {} }, { a: {} }, { a: {} }],
    ["an empty map in place of nothing", map, {}, { a: {} }, { a: {} }],
    ["an atomic map is replaced", atomic, { a: 1, b: 2 }, { a: 3 }, { a: 3 }],
    ["an untyped list is replaced", UNTYPED, { a: [1, 2] }, { a: [3] }, { a: [3] }],
    ["a scalar becomes a map", UNTYPED, { a: 1 }, { a: { b: 1 } }, { a: { b: 1 } }],
    ["a map becomes a scalar", UNTYPED, { a: { b: 1 } }, { a: 1 }, { a: 1 }],
    ["names that JavaScript knows", map, { constructor: 1 }, { toString: 2 }, { constructor: 1, toString: 2 }],
    ["__proto__ is a name", map, {}, JSON.parse('{"__proto__":{"a":1}}'), JSON.parse('{"__proto__":{"a":1}}')],
  ])("%s", (_, node, live, applied, merged) => {
    const result = mergeApplied(node, live, applied);
    expect(JSON.stringify(result)).toBe(JSON.stringify(merged));
  });

  it("finds the items of the API's lists by their keys, defaults included", () => {
    const live = {
      spec: { containers: [{ name: "a", ports: [{ containerPort: 80, protocol: "TCP" }] }, { name: "b" }] },
    };
    const applied = { spec: { containers: [{ name: "a", ports: [{ containerPort: 80, name: "web" }] }] } };
    const web = { containerPort: 80, protocol: "TCP", name: "web" };
    const merged = { spec: { containers: [{ name: "a", ports: [web] }, { name: "b" }] } };
    expect(mergeApplied(servedNode("Pod"), live, applied)).toEqual(merged);
  });
});
