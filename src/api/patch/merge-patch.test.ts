import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isRecord } from "../object.ts";
import { applyMergePatch } from "./merge-patch.ts";

describe("a merge patch", () => {
  // The examples of RFC 7386, appendix A, as far as the patch is an object.
  it.each([
    [{ a: "b" }, { a: "c" }, { a: "c" }],
    [{ a: "b" }, { b: "c" }, { a: "b", b: "c" }],
    [{ a: "b" }, { a: null }, {}],
    [{ a: "b", b: "c" }, { a: null }, { b: "c" }],
    [{ a: ["b"] }, { a: "c" }, { a: "c" }],
    [{ a: "c" }, { a: ["b"] }, { a: ["b"] }],
    [{ a: { b: "c" } }, { a: { b: "d", c: null } }, { a: { b: "d" } }],
    [{ a: [{ b: "c" }] }, { a: [1] }, { a: [1] }],
    [{ e: null }, { a: 1 }, { e: null, a: 1 }],
    [[1, 2], { a: "b", c: null }, { a: "b" }],
    [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
    // And what the library does that kube-apiserver uses.
    [{}, { a: [{ b: null, c: 1 }, null] }, { a: [{ c: 1 }, null] }],
    [{ a: 1 }, { a: { b: null } }, { a: {} }],
    [{ a: 0 }, {}, { a: 0 }],
  ])("%j with %j is %j", (document, patch, expected) => {
    const before = JSON.stringify([document, patch]);
    expect(applyMergePatch(document, patch)).toEqual(expected);
    expect(JSON.stringify([document, patch])).toBe(before);
  });

  it.each([
    [[1], "array"],
    ["a", "string"],
    [1, "number"],
    [true, "bool"],
    [null, "null"],
    [undefined, "null"],
  ])("that is %j is refused", (patch, type) => {
    const message = `error decoding patch: json: cannot unmarshal ${type} into Go value of type map[string]interface {}`;
    expect(() => applyMergePatch({}, patch)).toThrow(expect.objectContaining({ reason: "BadRequest", message }));
  });

  it("that nests without end is refused", () => {
    const patch: unknown = JSON.parse(`${'{"a":'.repeat(50_000)}1${"}".repeat(50_000)}`);
    expect(() => applyMergePatch({}, patch)).toThrow("nested more than 1000 levels deep");
  });

  it("cannot reach prototypes", () => {
    const merged = applyMergePatch({ a: 1 }, JSON.parse('{"__proto__":{"x":1},"constructor":{"prototype":{"x":1}}}'));
    expect(({} as Record<string, unknown>)["x"]).toBeUndefined();
    expect(Object.getPrototypeOf(merged)).toBe(Object.prototype);
    expect(JSON.stringify(merged)).toBe('{"a":1,"__proto__":{"x":1},"constructor":{"prototype":{"x":1}}}');
  });
});

describe("any merge patch", () => {
  const { document } = fc.letrec<{ document: Record<string, unknown>; value: unknown }>((tie) => ({
    value: fc.oneof({ maxDepth: 4 }, fc.integer(), fc.string(), fc.boolean(), tie("document"), fc.array(fc.integer())),
    document: fc.dictionary(fc.constantFrom("a", "b", "c", "__proto__"), tie("value"), { noNullPrototype: true }),
  }));

  /** Computes the patch that changes one document into the other, by the definition of RFC 7386. */
  function diff(from: Readonly<Record<string, unknown>>, to: Readonly<Record<string, unknown>>): unknown {
    const removed = Object.keys(from).filter((name) => !Object.hasOwn(to, name));
    const set = Object.entries(to).map(([name, value]) => {
      const before = Object.hasOwn(from, name) ? from[name] : undefined;
      return [name, isRecord(before) && isRecord(value) ? diff(before, value) : value];
    });
    return Object.fromEntries([...removed.map((name) => [name, null]), ...set]);
  }

  it("that is the difference of two documents makes one of the other", () => {
    fc.assert(
      fc.property(document, document, (from, to) => {
        expect(applyMergePatch(from, diff(from, to))).toEqual(to);
      }),
    );
  });

  it("changes nothing more the second time", () => {
    fc.assert(
      fc.property(document, document, document, (from, to, other) => {
        const patch = diff(from, to);
        const once = applyMergePatch(other, patch);
        expect(applyMergePatch(once, patch)).toEqual(once);
      }),
    );
  });
});
