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
    const { value, duplicates } = parseStrictJson(text, { duplicates: true });
    expect(duplicates).toEqual(fields.map((field) => `duplicate field ${JSON.stringify(field)}`));
    expect(value).toEqual(JSON.parse(text));
    expect(parseStrictJson(text).duplicates).toEqual([]);
  });

  it("are told up to a hundred", () => {
    const fields = Array.from({ length: 150 }, (_, index) => `"f${index}":1,"f${index}":2`);
    expect(parseStrictJson(`{${fields.join(",")}}`, { duplicates: true }).duplicates).toHaveLength(100);
  });
});

describe("integers beyond what a number holds", () => {
  const text =
    '{"a":9007199254740993,"b":[-9223372036854775808,9007199254740991],"c":1e20,"d":1234567890123456.5,"e":"9007199254740993","f":{"__proto__":9007199254740993}}';

  it("are exact when asked for", () => {
    const { value } = parseStrictJson(text, { bigIntegers: true });
    const inner: unknown = Object.fromEntries([["__proto__", 9007199254740993n]]);
    expect(value).toEqual({
      a: 9007199254740993n,
      b: [-9223372036854775808n, 9007199254740991],
      c: 1e20,
      d: 1234567890123456.5,
      e: "9007199254740993",
      f: inner,
    });
  });

  it("are rounded otherwise", () => {
    expect(parseStrictJson(text, { duplicates: true }).value).toEqual(JSON.parse(text));
  });

  it("may be the whole text", () => {
    expect(parseStrictJson("9007199254740993", { bigIntegers: true }).value).toBe(9007199254740993n);
    expect(parseStrictJson('"1234567890123456"', { bigIntegers: true }).value).toBe("1234567890123456");
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
    expect(() => parseStrictJson(text, { bigIntegers: true })).toThrow(
      expect.objectContaining({ reason: "BadRequest" }),
    );
  });

  it("more than ten thousand levels, and not one less", () => {
    const nested = (levels: number) => `${'[{"a":'.repeat(levels / 2)}1${"}]".repeat(levels / 2)}`;
    for (const options of [{}, { duplicates: true }, { bigIntegers: true }]) {
      expect(() => parseStrictJson(nested(10_002), options)).toThrow(
        expect.objectContaining({ reason: "BadRequest", message: "exceeded max depth" }),
      );
      expect(parseStrictJson(nested(10_000), options).duplicates).toEqual([]);
    }
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
        const parsed = parseStrictJson(spaced, { duplicates: true });
        expect(parsed).toEqual({ value: JSON.parse(spaced), duplicates: [] });
      }),
    );
  });

  const document = fc.jsonValue({ maxDepth: 4 }).map((value): unknown => {
    const isUnsafe = (item: unknown) => Number.isInteger(item) && !Number.isSafeInteger(item);
    return JSON.parse(JSON.stringify(value), (_, item: unknown) => (isUnsafe(item) ? 0 : item));
  });

  it("is read the same with integers kept exact, but for these", () => {
    fc.assert(
      fc.property(document, fc.bigInt({ min: 2n ** 53n, max: 2n ** 63n }), (value, integer) => {
        const text = `{"value":${JSON.stringify(value)},"integer":${integer}}`;
        expect(parseStrictJson(text, { bigIntegers: true }).value).toEqual({
          value: JSON.parse(JSON.stringify(value)),
          integer,
        });
      }),
    );
  });
});
