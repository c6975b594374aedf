import fc from "fast-check";
import { compare } from "fast-json-patch";
import { describe, expect, it } from "vitest";
import { ApiError } from "../api-error.ts";
import { applyJsonPatch } from "./json-patch.ts";

type Operation = Readonly<Record<string, unknown>>;

/** Returns the cause that this server gives, and that upstream does not tell. */
function causeOf(document: unknown, patch: unknown): string | undefined {
  const before = JSON.stringify([document, patch]);
  try {
    applyJsonPatch(document, patch);
  } catch (error) {
    expect(JSON.stringify([document, patch])).toBe(before);
    if (!(error instanceof ApiError)) throw error;
    expect(error).toMatchObject({
      reason: "Invalid",
      message: "the server rejected our request due to an error in our request",
    });
    return error.details.causes?.[0]?.message;
  }
  return undefined;
}

describe("a JSON patch", () => {
  it.each<[unknown, Operation[], unknown]>([
    // The examples of RFC 6902, appendix A.
    [{ foo: "bar" }, [{ op: "add", path: "/baz", value: "qux" }], { baz: "qux", foo: "bar" }],
    [{ foo: ["bar", "baz"] }, [{ op: "add", path: "/foo/1", value: "qux" }], { foo: ["bar", "qux", "baz"] }],
    [{ baz: "qux", foo: "bar" }, [{ op: "remove", path: "/baz" }], { foo: "bar" }],
    [{ foo: ["bar", "qux", "baz"] }, [{ op: "remove", path: "/foo/1" }], { foo: ["bar", "baz"] }],
    [{ baz: "qux", foo: "bar" }, [{ op: "replace", path: "/baz", value: "boo" }], { baz: "boo", foo: "bar" }],
    [
      { foo: { a: 1, b: 2 }, qux: { c: 3 } },
      [{ op: "move", from: "/foo/b", path: "/qux/d" }],
      { foo: { a: 1 }, qux: { c: 3, d: 2 } },
    ],
    [
      { foo: ["all", "grass", "cows", "eat"] },
      [{ op: "move", from: "/foo/1", path: "/foo/3" }],
      { foo: ["all", "cows", "eat", "grass"] },
    ],
    [
      { baz: "qux", foo: ["a", 2, "c"] },
      [
        { op: "test", path: "/baz", value: "qux" },
        { op: "test", path: "/foo/1", value: 2 },
      ],
      { baz: "qux", foo: ["a", 2, "c"] },
    ],
    [
      { foo: "bar" },
      [{ op: "add", path: "/child", value: { grandchild: {} } }],
      { foo: "bar", child: { grandchild: {} } },
    ],
    [{ foo: "bar" }, [{ op: "add", path: "/baz", value: "qux", xyz: 123 }], { foo: "bar", baz: "qux" }],
    [
      { "/": 9, "~1": 10 },
      [
        { op: "test", path: "/~01", value: 10 },
        { op: "replace", path: "/~1", value: 8 },
      ],
      { "/": 8, "~1": 10 },
    ],
    [{ foo: ["bar"] }, [{ op: "add", path: "/foo/-", value: ["abc", "def"] }], { foo: ["bar", ["abc", "def"]] }],
    // Keys
    [{}, [{ op: "add", path: "/", value: 1 }], { "": 1 }],
    [{ a: { "": 1 } }, [{ op: "remove", path: "/a/" }], { a: {} }],
    [
      { a: {} },
      [
        { op: "add", path: "/a/-", value: 1 },
        { op: "add", path: "/a/0", value: 2 },
      ],
      { a: { "-": 1, "0": 2 } },
    ],
    // Lists
    [[1, 2, 3], [{ op: "add", path: "/3", value: 4 }], [1, 2, 3, 4]],
    [[1, 2, 3], [{ op: "add", path: "/-1", value: 4 }], [1, 2, 3, 4]],
    [[1, 2, 3], [{ op: "add", path: "/-4", value: 0 }], [0, 1, 2, 3]],
    [[1, 2, 3], [{ op: "remove", path: "/-1" }], [1, 2]],
    [[1, 2, 3], [{ op: "replace", path: "/-2", value: 0 }], [1, 0, 3]],
    [[{ a: 1 }], [{ op: "replace", path: "/0/a", value: 2 }], [{ a: 2 }]],
    // As upstream's library
    [{ a: 1 }, [{ op: "replace", path: "/b", value: 2 }], { a: 1, b: 2 }],
    [
      { a: 1 },
      [
        { op: "test", path: "/b", value: null },
        { op: "test", path: "/c" },
      ],
      { a: 1 },
    ],
    [{ a: null }, [{ op: "test", path: "/a", value: null }], { a: null }],
    [{ a: 1 }, [{ op: "add", path: "/b" }], { a: 1, b: null }],
    [{ a: 1 }, [{ op: "copy", from: "/b", path: "/c" }], { a: 1, c: null }],
    // The whole document
    [
      { a: 1 },
      [
        { op: "test", path: "", value: { a: 1 } },
        { op: "replace", path: "", value: { b: 2 } },
        { op: "add", path: "/c", value: 3 },
      ],
      { b: 2, c: 3 },
    ],
    [{ a: 1 }, [], { a: 1 }],
    // A copy is a copy, and what is added is not shared with the patch
    [
      { a: { x: 1 } },
      [
        { op: "copy", from: "/a", path: "/b" },
        { op: "replace", path: "/b/x", value: 2 },
        { op: "add", path: "/a/y", value: 3 },
      ],
      { a: { x: 1, y: 3 }, b: { x: 2 } },
    ],
    [
      {},
      [
        { op: "add", path: "/a", value: { x: 1 } },
        { op: "add", path: "/a/y", value: 2 },
      ],
      { a: { x: 1, y: 2 } },
    ],
    [
      { a: [1] },
      [
        { op: "move", from: "/a", path: "/b" },
        { op: "add", path: "/b/-", value: 2 },
      ],
      { b: [1, 2] },
    ],
  ])("%j with %j is %j", (document, patch, expected) => {
    const before = JSON.stringify([document, patch]);
    expect(applyJsonPatch(document, patch)).toEqual(expected);
    expect(JSON.stringify([document, patch])).toBe(before);
  });

  it.each<[Operation, string]>([
    [{ op: "test", path: "/a", value: 2 }, "testing value /a failed: test failed"],
    [{ op: "test", path: "/a" }, "testing value /a failed: test failed"],
    [{ op: "test", path: "", value: {} }, "testing value  failed: test failed"],
    [
      { op: "test", path: "/list/9", value: 1 },
      "error in test for path: '/list/9': Unable to access invalid index: 9: invalid index referenced",
    ],
    [{ op: "test", path: "/x/y", value: 1 }, "test operation does not apply: is missing path: /x/y: missing value"],
    [{ op: "add", path: "/x/y", value: 1 }, 'add operation does not apply: doc is missing path: "/x/y": missing value'],
    [{ op: "add", path: "/a/y", value: 1 }, 'add operation does not apply: doc is missing path: "/a/y": missing value'],
    [{ op: "add", path: "", value: {} }, 'add operation does not apply: doc is missing path: "": missing value'],
    [{ op: "add", path: "a", value: {} }, 'add operation does not apply: doc is missing path: "a": missing value'],
    [{ op: "add", path: "x/a", value: {} }, 'add operation does not apply: doc is missing path: "x/a": missing value'],
    [
      { op: "add", path: "/list/3", value: 1 },
      "error in add for path: '/list/3': Unable to access invalid index: 3: invalid index referenced",
    ],
    [
      { op: "add", path: "/list/-4", value: 1 },
      "error in add for path: '/list/-4': Unable to access invalid index: -4: invalid index referenced",
    ],
    [
      { op: "add", path: "/list/x", value: 1 },
      "error in add for path: '/list/x': value was not a proper array index: 'x'",
    ],
    [
      { op: "add", path: "/list/-/x", value: 1 },
      'add operation does not apply: doc is missing path: "/list/-/x": missing value',
    ],
    [
      { op: "remove", path: "/x" },
      "error in remove for path: '/x': Unable to remove nonexistent key: x: missing value",
    ],
    [
      { op: "remove", path: "/constructor" },
      "error in remove for path: '/constructor': Unable to remove nonexistent key: constructor: missing value",
    ],
    [
      { op: "remove", path: "/list/2" },
      "error in remove for path: '/list/2': Unable to access invalid index: 2: invalid index referenced",
    ],
    [{ op: "remove", path: "/list/-" }, "error in remove for path: '/list/-': value was not a proper array index: '-'"],
    [{ op: "remove", path: "" }, 'remove operation does not apply: doc is missing path: "": missing value'],
    [
      { op: "replace", path: "/x/y", value: 1 },
      "replace operation does not apply: doc is missing path: /x/y: missing value",
    ],
    [
      { op: "replace", path: "/list/2", value: 1 },
      "replace operation does not apply: doc is missing key: /list/2: missing value",
    ],
    [
      { op: "replace", path: "/list/-", value: 1 },
      "replace operation does not apply: doc is missing key: /list/-: missing value",
    ],
    [{ op: "replace", path: "", value: 1 }, "replace operation value must be object or array"],
    [
      { op: "move", from: "/x", path: "/a" },
      "error in move for path: 'x': Unable to remove nonexistent key: x: missing value",
    ],
    [
      { op: "move", from: "/x/y", path: "/a" },
      "move operation does not apply: doc is missing from path: /x/y: missing value",
    ],
    [
      { op: "move", from: "/list", path: "/list/0" },
      "move operation does not apply: doc is missing destination path: /list/0: missing value",
    ],
    [{ op: "move", path: "/a" }, "move operation failed to decode from: missing value"],
    [
      { op: "copy", from: "/list/5", path: "/b" },
      "error in copy for from: '/list/5': Unable to access invalid index: 5: invalid index referenced",
    ],
    [
      { op: "copy", from: "/a", path: "/x/y" },
      "copy operation does not apply: doc is missing destination path: /x/y: missing value",
    ],
    [
      { op: "copy", from: "/a", path: "/list/7" },
      "error while adding value during copy: Unable to access invalid index: 7: invalid index referenced",
    ],
    [{ op: "add", value: 1 }, "add operation failed to decode path: missing value"],
    [{ op: "add", path: 1, value: 1 }, "add operation failed to decode path: missing value"],
    [{ op: "spam", path: "/a" }, "Unexpected kind: spam"],
    [{ op: "toString", path: "/a" }, "Unexpected kind: toString"],
    [{ path: "/a" }, "Unexpected kind: unknown"],
  ])("cannot %j", (operation, cause) => {
    const changes = { op: "add", path: "/list/0", value: "changed" };
    expect(causeOf({ a: 1, list: [1, 2] }, [operation])).toBe(cause);
    expect(causeOf({ a: 1, list: [1] }, [changes, operation])).toBe(cause);
  });

  it.each([
    [{ op: "add" }, "object into Go value of type []handlers.jsonPatchOp"],
    [null, "null into Go value of type []handlers.jsonPatchOp"],
    ["a", "string into Go value of type []handlers.jsonPatchOp"],
    [["a"], "string into Go value of type handlers.jsonPatchOp"],
    [[[]], "array into Go value of type handlers.jsonPatchOp"],
  ])("%j is none", (patch, problem) => {
    const message = `error decoding patch: json: cannot unmarshal ${problem}`;
    expect(() => applyJsonPatch({}, patch)).toThrow(expect.objectContaining({ reason: "BadRequest", message }));
  });
});

describe("limits", () => {
  it("CVE-2019-1002100: ten thousand operations are applied, one more is not", () => {
    const patch = Array.from({ length: 10_000 }, (_, index) => ({ op: "add", path: "/list/-", value: index }));
    expect(applyJsonPatch({ list: [] }, patch)).toEqual({ list: patch.map(({ value }) => value) });
    expect(() => applyJsonPatch({ list: [] }, [...patch, patch[0]])).toThrow(
      expect.objectContaining({
        reason: "RequestEntityTooLarge",
        message: "Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001",
      }),
    );
  });

  it("copies may not grow without end, by their values or by their bytes", () => {
    const doubling = Array.from({ length: 30 }, (_, index) => ({ op: "copy", from: "/a", path: `/a/${index}` }));
    expect(causeOf({ a: {} }, doubling)).toBe("Unable to complete the copy, it copies more than 60000 values");
    expect(causeOf({ a: { long: "x".repeat(100_000) } }, doubling)).toMatch(
      /^Unable to complete the copy, the accumulated size increase of copy operations is \d+, exceeding the limit 3145728$/,
    );
  });

  it("long lists may not be moved on item by item again and again", () => {
    const list = Array.from({ length: 28_000 }, () => 1);
    const error = "the patch inserts into long lists, or removes from them, too often";
    const many = <T>(operation: T) => Array.from({ length: 9_999 }, () => operation);
    expect(causeOf({ list }, many({ op: "move", from: "/list/0", path: "/list/14000" }))).toContain(error);
    expect(causeOf({ list }, many({ op: "add", path: "/list/0", value: 1 }))).toContain(error);
    expect(causeOf({ list }, many({ op: "remove", path: "/list/0" }))).toContain(error);
    const appended = applyJsonPatch({ list }, many({ op: "add", path: "/list/-", value: 1 }));
    expect(appended).toHaveProperty("list.length", 37_999);
  });

  it("nor may nesting", () => {
    const deep: unknown = JSON.parse(`${"[".repeat(2000)}${"]".repeat(2000)}`);
    expect(() => applyJsonPatch({}, [{ op: "add", path: "/a", value: deep }])).toThrow("nested more than 1000 levels");
    expect(causeOf({ a: deep }, [{ op: "copy", from: "/a", path: "/b" }])).toBe(
      "error while performing deep copy: nested too deeply",
    );
    const chain = {
      op: "add",
      path: "/chain",
      value: JSON.parse(`${'{"x":'.repeat(900)}{}${"}".repeat(900)}`) as unknown,
    };
    const nest = [
      chain,
      { op: "move", from: "/a", path: `/chain${"/x".repeat(901)}` },
      { op: "move", from: "/chain", path: "/a" },
    ];
    expect(causeOf({ a: 1 }, Array.from({ length: 20 }, () => nest).flat())).toBe("the result is nested too deeply");
  });
});

it("prototypes cannot be reached", () => {
  const patch = [
    { op: "add", path: "/__proto__", value: { x: 1 } },
    { op: "add", path: "/__proto__/y", value: 1 },
  ];
  const patched = applyJsonPatch({}, patch);
  expect(JSON.stringify(patched)).toBe('{"__proto__":{"x":1,"y":1}}');
  expect(Object.getPrototypeOf(patched)).toBe(Object.prototype);
  expect(causeOf({}, [{ op: "add", path: "/constructor/prototype/x", value: 1 }])).toMatch(/missing path/);
  expect(causeOf([], [{ op: "add", path: "/length", value: 1 }])).toMatch(/not a proper array index/);
  expect(({} as Record<string, unknown>)["x"]).toBeUndefined();
});

describe("any JSON patch", () => {
  const written = fc.dictionary(fc.constantFrom("a", "b", "c/d", "e~f"), fc.jsonValue({ maxDepth: 3 }), {
    noNullPrototype: true,
  });
  // As JSON has it: there is no -0.
  const document = written.map((value): typeof value => JSON.parse(JSON.stringify(value)));

  it("that another library makes of two documents makes one of the other", () => {
    fc.assert(
      fc.property(document, document, (from, to) => {
        const [before, after] = [JSON.stringify(from), JSON.stringify(to)];
        expect(applyJsonPatch(from, compare(from, to))).toEqual(JSON.parse(after));
        expect(JSON.stringify(from)).toBe(before);
      }),
    );
  });

  it("is applied as a whole or refused, and never changes its arguments", () => {
    const path = fc
      .array(fc.constantFrom("a", "b", "0", "1", "-", "-1", ""), { maxLength: 3 })
      .map((keys) => keys.map((key) => `/${key}`).join(""));
    const operation = fc.record({
      op: fc.constantFrom("add", "remove", "replace", "move", "copy", "test"),
      path,
      from: path,
      value: fc.jsonValue({ maxDepth: 2 }),
    });
    const start = fc.record({ a: fc.jsonValue({ maxDepth: 2 }), b: fc.array(fc.jsonValue({ maxDepth: 1 })) });
    fc.assert(
      fc.property(start, fc.array(operation, { maxLength: 5 }), (from, patch) => {
        const before = JSON.stringify([from, patch]);
        if (causeOf(from, patch) === undefined) expect(applyJsonPatch(from, patch)).toBeTypeOf("object");
        expect(JSON.stringify([from, patch])).toBe(before);
      }),
      { numRuns: 500 },
    );
  });
});
