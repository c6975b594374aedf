import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ApiError } from "../api-error.ts";
import { parseFieldSelector } from "./field-selector.ts";

describe("printing what was parsed", () => {
  it.each([
    ["", ""],
    [",", ""],
    ["metadata.name=a", "metadata.name=a"],
    ["b==1,a!=2", "a!=2,b=1"],
    ["a=", "a="],
    ["a=b=", undefined],
    ["x=a\\,b,y=c", "x=a\\,b,y=c"],
    ["x=a\\=b\\\\", "x=a\\=b\\\\"],
    ["a!b=c", "a!b=c"],
    ["=a", "=a"],
    [",a=b,,", "a=b"],
  ])("%j is %j", (text, printed) => {
    if (printed === undefined) expect(() => parseFieldSelector(text)).toThrow(ApiError);
    else expect(String(parseFieldSelector(text))).toBe(printed);
  });

  it("tells the requirements, unescaped", () => {
    expect(parseFieldSelector("x=a\\,b,y!=\\=\\\\").requirements).toEqual([
      { field: "x", operator: "=", value: "a,b" },
      { field: "y", operator: "!=", value: "=\\" },
    ]);
    expect(parseFieldSelector("").isEverything).toBe(true);
    expect(parseFieldSelector("a=").isEverything).toBe(false);
  });
});

it.each([
  ["x", "invalid selector: 'x'; can't understand 'x'"],
  ["a=b,x", "invalid selector: 'a=b,x'; can't understand 'x'"],
  ["a=b\\n", "invalid field selector: invalid escape sequence: \\n"],
  ["a=b\\", "invalid field selector: invalid escape sequence: \\"],
  ["a=b=c", "invalid field selector: unescaped character in value: 61"],
  ["a===b", "invalid field selector: unescaped character in value: 61"],
])("%j is refused", (text, message) => {
  expect(() => parseFieldSelector(text)).toThrow(expect.objectContaining({ reason: "BadRequest", message }));
});

it("matches by what the fields are told to be", () => {
  const fields = (name: string) => ({ a: "1", b: "" })[name] ?? "";
  const matches = (text: string) => parseFieldSelector(text).matches(fields);
  expect(["", "a=1", "a!=2", "b=", "c=", "a=1,b="].map(matches)).toEqual([true, true, true, true, true, true]);
  expect(["a=2", "a!=1", "b!=", "a=1,b=1"].map(matches)).toEqual([false, false, false, false]);
});

it("any value survives printing and parsing", () => {
  const requirement = fc.record({
    field: fc.stringMatching(/^[a-z.]{1,8}$/),
    operator: fc.constantFrom("=", "!="),
    value: fc.string({ unit: fc.constantFrom(..."ab\\,=! é\n") }),
  });
  fc.assert(
    fc.property(fc.array(requirement, { maxLength: 4 }), (requirements) => {
      const escaped = requirements.map(({ field, operator, value }) => {
        return `${field}${operator}${value.replaceAll("\\", "\\\\").replaceAll(",", "\\,").replaceAll("=", "\\=")}`;
      });
      const selector = parseFieldSelector(escaped.join(","));
      expect(new Set(selector.requirements.map((item) => JSON.stringify(item)))).toEqual(
        new Set(requirements.map((item) => JSON.stringify(item))),
      );
      expect(parseFieldSelector(String(selector)).requirements).toEqual(selector.requirements);
    }),
  );
});
