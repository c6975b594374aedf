import { describe, expect, it } from "vitest";
import type { ListNode, SchemaNode } from "../schema-node.ts";
import { compareObjects } from "./compare.ts";
import { type FieldSet, listPaths } from "./field-set.ts";
import { formatPath } from "./path-element.ts";

const SCALAR: SchemaNode = { kind: "scalar" };
const UNTYPED: SchemaNode = { kind: "untyped" };
const MAP: SchemaNode = { kind: "map", atomic: false, values: UNTYPED };
const ATOMIC: SchemaNode = { kind: "map", atomic: true, values: SCALAR };
const SET: ListNode = { kind: "list", list: "set", keys: [], items: SCALAR, patch: [], mergeKey: undefined };
const SETS: SchemaNode = { kind: "map", atomic: false, values: SET };

const pathsOf = (set: FieldSet) => listPaths(set).map(formatPath).sort().join(" ");

/** Each set as its paths, in one line; a set without paths is left out. */
function compare(node: SchemaNode, before: unknown, after: unknown): string {
  const { added, modified, removed } = compareObjects(node, before, after);
  const sets = { "+": pathsOf(added), "~": pathsOf(modified), "-": pathsOf(removed) };
  return Object.entries(sets)
    .flatMap(([sign, paths]) => (paths === "" ? [] : [`${sign} ${paths}`]))
    .join(", ");
}

describe("two objects differ by", () => {
  it.each([
    ["nothing", MAP, { a: 1, b: { c: 2 } }, { a: 1, b: { c: 2 } }, ""],
    ["a field that came", MAP, { a: 1 }, { a: 1, b: 2 }, "+ .b"],
    ["a field that went", MAP, { a: 1, b: 2 }, { a: 1 }, "- .b"],
    ["a field that changed", MAP, { a: 1 }, { a: 2 }, "~ .a"],
    ["one of each", MAP, { a: 1, b: 2 }, { b: 3, c: 4 }, "+ .c, ~ .b, - .a"],
    ["a map that came", MAP, {}, { a: { b: 1, c: 2 } }, "+ .a .a.b .a.c"],
    ["a map that went", MAP, { a: { b: 1, c: 2 } }, {}, "- .a .a.b .a.c"],
    ["an entry that went, of a map that stays", MAP, { a: { b: 1, c: 2 } }, { a: { b: 1 } }, "- .a.c"],
    ["null where a value was", MAP, { a: 1 }, { a: null }, "~ .a"],
    ["a map that became empty", MAP, { a: { b: 1 } }, { a: {} }, "- .a.b"],
    ["an empty map that became null", MAP, { a: {} }, { a: null }, "~ .a"],
    ["a map that became a scalar", MAP, { a: { b: 1 } }, { a: 1 }, "~ .a, - .a.b"],
    ["a scalar that became a map", MAP, { a: 1 }, { a: { b: 1 } }, "+ .a.b, ~ .a"],
    ["a value of an atomic map", { ...MAP, values: ATOMIC }, { a: { b: 1 } }, { a: { b: 2 } }, "~ .a"],
    ["a value of an untyped list", MAP, { a: [1, 2] }, { a: [1] }, "~ .a"],
    ["items of a set", SETS, { a: [1, 2] }, { a: [2, 3] }, "+ .a[=3], - .a[=1]"],
    ["an item that is there twice now", SETS, { a: [1] }, { a: [1, 1] }, "+ .a[=1], - .a[=1]"],
    ["an item that was there twice", SETS, { a: [1, 1] }, { a: [1] }, "+ .a[=1], - .a[=1]"],
    ["a set that became empty", SETS, { a: [1] }, { a: [] }, "- .a[=1]"],
    ["an empty set that became null", SETS, { a: [] }, { a: null }, "~ .a"],
    ["a name that JavaScript knows", MAP, {}, { constructor: 1 }, "+ .constructor"],
    ["a name that JavaScript knows and that went", MAP, { toString: 1 }, {}, "- .toString"],
    ["all of it, where there was nothing", MAP, undefined, { a: { b: 1 } }, "+ .a .a.b"],
    ["all of it, where there is nothing", MAP, { a: { b: 1 } }, undefined, "- .a .a.b"],
  ])("%s", (_, node, before, after, expected) => {
    expect(compare(node, before, after)).toBe(expected);
  });
});
