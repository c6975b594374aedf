import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseStrictJson } from "./strict-json.ts";

describe("fields that are written twice", () => {
  it.each<[string, string[]]>([
    ['{"a":1,"b":2}', []],
    ['{"a":1,"a":2}', ["a"]],
    ['{"a":1,"a":1,"a":1}', ["a"]],
    ['{"spec":{"a":1,"b":{"a":1},"a":2}}', ["spec.a"]],
    ['{"spec":{"list":[{"a":1},{"a":1,"a":2}]}}', ["spec.list[1].a"]],
    ['{"list":[[0,{"a":1,"a":2}],[{"a":1}]]}', ["list[0][1].a"]],
    ['{"list":[1,"x",null,{},[],{"a":1,"a":2}]}', ["list[5].a"]],
    ['[{"a":1,"a":2}]', ["[0].a"]],
    ['{"metadata":{"labels":{"x.io/y":"1","x.io/y":"2"}},"metadata":{}}', ["metadata.labels.x.io/y", "metadata"]],
    ['{"a\\"b":1,"a\\u0022b":2}', ['a"b']],
    ['{"a\\\\":1,"a\\\\":2,"x":"\\\\\\""}', ["a\\"]],
    ['{"__proto__":1,"__proto__":2,"constructor":1}', ["__proto__"]],
    [' {\n"a" :\t[ ] , "a": { } }\r\n', ["a"]],
    ['{"":1,"":2}', [""]],
    ['{"a":{"a":{"a":1}},"b":"a"}', []],
  ])("of %s", (text, fields) => {
    const { value, duplicates } = parseStrictJson(text);
    expect(duplicates).toEqual(fields.map((field) => `duplicate field ${JSON.stringify(field)}`));
    expect(value).toEqual(JSON.parse(text));
  });

  it("are told by the end of their path where it is long", () => {
    const text = `${`{"${"k".repeat(300)}":`.repeat(500)}{"a":1,"a":2}${"}".repeat(500)}`;
    const [told = ""] = parseStrictJson(text).duplicates;
    expect(told).toMatch(/^duplicate field "…k+\.k+\.a"$/);
    expect(told.length).toBeLessThan(600);
  });

  it("are told up to a hundred", () => {
    const fields = Array.from({ length: 150 }, (_, index) => `"f${index}":1,"f${index}":2`);
    expect(parseStrictJson(`{${fields.join(",")}}`).duplicates).toHaveLength(100);
  });
});

describe("what is refused", () => {
  it.each(["", "{", "{a:1}", "[1,]", "01", "nul", "{} {}", "\ufeff{}", "'a'"])("%j, as it is no JSON", (text) => {
    expect(() => parseStrictJson(text)).toThrow(
      expect.objectContaining({
        reason: "BadRequest",
        message: expect.stringMatching(/^the body of the request is not valid JSON: ./),
      }),
    );
  });

  it.each(["1e999", "[-1e400]", `{"a":${"9".repeat(400)}}`])("%j, as no number is that large", (text) => {
    expect(() => parseStrictJson(text)).toThrow("json: cannot unmarshal number into Go value of type float64");
  });

  it("more than a thousand levels, and not one less", () => {
    const nested = (levels: number) => `${'[{"a":'.repeat(levels / 2)}1${"}]".repeat(levels / 2)}`;
    expect(() => parseStrictJson(nested(1_002))).toThrow(
      expect.objectContaining({ reason: "BadRequest", message: "exceeded max depth" }),
    );
    expect(parseStrictJson(nested(1_000)).duplicates).toEqual([]);
  });

  it("more than a hundred thousand values, before it is built", () => {
    const many = (count: number) => `[${"{},".repeat(count - 1)}{}]`;
    expect(() => parseStrictJson(many(60_000))).toThrow(
      expect.objectContaining({ reason: "RequestEntityTooLarge", message: expect.stringContaining("100000 values") }),
    );
    expect(() => parseStrictJson("[1,".repeat(1_000_000))).toThrow("exceeded max depth");
    expect(parseStrictJson(many(49_000)).value).toHaveLength(49_000);
  });

  it("a million brackets, without running out of stack", () => {
    expect(() => parseStrictJson(`${"[".repeat(1_000_000)}${"]".repeat(1_000_000)}`)).toThrow("exceeded max depth");
  });
});

describe("any JSON", () => {
  it("is read as JSON.parse reads it, in whatever way it is written", () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 4 }), fc.constantFrom(undefined, 1, "\t"), (text, indent) => {
        const spaced = JSON.stringify(JSON.parse(text), null, indent);
        const parsed = parseStrictJson(spaced);
        expect(parsed).toEqual({ value: JSON.parse(spaced), duplicates: [] });
      }),
    );
  });
});
