import { describe, expect, test } from "vitest";
import { formatFieldError } from "../../api/field-error.ts";
import { compilePattern } from "../../api/go-pattern.ts";
import { hasFormat } from "./formats.ts";
import type { Schema } from "./schema-props.ts";
import { validateValue } from "./validate-value.ts";

const problemsOf = (schema: Schema, value: unknown) => validateValue(schema, value, "spec.x").map(formatFieldError);

describe("numbers, lists and maps", () => {
  test.each<[string, Schema, unknown, string[]]>([
    [
      "exclusive bounds",
      { type: "number", minimum: 1, exclusiveMinimum: true },
      1,
      ["Invalid value: 1: spec.x in body should be greater than 1"],
    ],
    [
      "exclusive bounds",
      { type: "number", maximum: 1, exclusiveMaximum: true },
      1,
      ["Invalid value: 1: spec.x in body should be less than 1"],
    ],
    [
      "multiples",
      { type: "integer", multipleOf: 5 },
      7,
      ["Invalid value: 7: spec.x in body should be a multiple of 5"],
    ],
    ["multiples of fractions", { type: "number", multipleOf: 0.1 }, 0.3, []],
    [
      "an integer of a format, beyond it",
      { type: "integer", format: "int32" },
      2 ** 31,
      ['<nil>: Invalid value: "": Checked value must be of type integer with format int32 in spec.x'],
    ],
    ["the greatest of a format", { type: "integer", format: "int32" }, 2 ** 31 - 1, []],
    [
      "an integer beyond all",
      { type: "integer" },
      1e30,
      ['<nil>: Invalid value: "": Checked value must be of type integer (default format) in spec.x'],
    ],
    [
      "a fraction for an integer of a format",
      { type: "integer", format: "int32" },
      1.5,
      [
        'Invalid value: "float64": spec.x in body must be of type int32: "float64"',
        '<nil>: Invalid value: "": Checked value must be of type integer with format int32 in spec.x',
      ],
    ],
    [
      "a boolean for an integer of a format",
      { type: "integer", format: "int32" },
      true,
      ['Invalid value: "": spec.x in body must be of type int32: ""'],
    ],
    ["an integer for a number", { type: "number" }, 3, []],
    [
      "few items",
      { type: "array", minItems: 1 },
      [],
      ["Invalid value: 0: spec.x in body should have at least 1 items"],
    ],
    ["many items", { type: "array", maxItems: 1 }, [1, 2], ["Too many: 2: must have at most 1 item"]],
    [
      "few fields",
      { type: "object", minProperties: 1 },
      {},
      ["Invalid value: 0: spec.x in body should have at least 1 properties"],
    ],
    ["many fields", { type: "object", maxProperties: 1 }, { a: 1, b: 2 }, ["Too many: 2: must have at most 1 item"]],
    [
      "few characters",
      { type: "string", minLength: 2 },
      "a",
      ['Invalid value: "a": spec.x in body should be at least 2 chars long'],
    ],
    [
      "the first problem of a text alone",
      { type: "string", minLength: 1, pattern: "a" },
      "",
      ['Invalid value: "": spec.x in body should be at least 1 chars long'],
    ],
    ["characters, not bytes", { type: "string", maxLength: 2 }, "😀é", []],
    ["null", { type: "string" }, null, ['Invalid value: "null": spec.x in body must be of type string: "null"']],
    ["null where it may be", { type: "string", nullable: true }, null, []],
    ["an enum of other than texts", { enum: [1, { a: [2] }] }, { a: [2] }, []],
    [
      "an enum of other than texts",
      { enum: [1, { a: 2 }] },
      2,
      ['Unsupported value: 2: supported values: "1", "{\\"a\\":2}"'],
    ],
    ["anything without a type", {}, { a: [1] }, []],
  ])("%s: %j", (_, schema, value, expected) => {
    expect(problemsOf(schema, value)).toEqual(
      expected.map((problem) => (problem.startsWith("<nil>") ? problem : `spec.x: ${problem}`)),
    );
  });
});

describe("junctors", () => {
  const nil = (problem: string) => `<nil>: Invalid value: "": "spec.x" ${problem}`;
  const short: Schema = { maxLength: 1 };
  const capital: Schema = { pattern: "^[A-Z]" };
  test.each<[string, Schema, unknown, string[]]>([
    ["anyOf", { anyOf: [short, capital] }, "Long", []],
    [
      "anyOf",
      { anyOf: [short, capital] },
      "long",
      [nil("must validate at least one schema (anyOf)"), "spec.x: Too long: may not be more than 1 bytes"],
    ],
    [
      "oneOf",
      { oneOf: [short, capital] },
      "A",
      [nil("must validate one and only one schema (oneOf). Found 2 valid alternatives")],
    ],
    [
      "oneOf",
      { oneOf: [short, capital] },
      "long",
      [
        nil("must validate one and only one schema (oneOf). Found none valid"),
        "spec.x: Too long: may not be more than 1 bytes",
      ],
    ],
    [
      "oneOf, with the problems of the alternative that says most",
      {
        oneOf: [
          { properties: { a: { not: { enum: ["ip"] } } } },
          { properties: { a: { enum: ["ip"] }, b: { anyOf: [{ maxLength: 1 }, { maxLength: 2 }] } } },
        ],
      },
      { a: "ip", b: "long" },
      [
        nil("must validate one and only one schema (oneOf). Found none valid"),
        '<nil>: Invalid value: "": "spec.x.b" must validate at least one schema (anyOf)',
        "spec.x.b: Too long: may not be more than 1 bytes",
      ],
    ],
    [
      "allOf",
      { allOf: [short, capital] },
      "Long",
      ["spec.x: Too long: may not be more than 1 bytes", nil("must validate all the schemas (allOf)")],
    ],
    ["not", { not: capital }, "A", [nil("must not validate the schema (not)")]],
    ["not", { not: capital }, "a", []],
  ])("%s: %j of %j", (_, schema, value, expected) => {
    expect(problemsOf(schema, value)).toEqual(expected);
  });
});

test("no more than a hundred problems are told", () => {
  const list = Array.from({ length: 500 }, () => 1);
  expect(problemsOf({ type: "array", items: { type: "string" } }, list)).toHaveLength(100);
});

test.each<[string, string[], string[]]>([
  ["byte", ["", "YQ=="], ["YQ", "?"]],
  ["cidr", ["10.0.0.0/8", "fd00::/64"], ["10.0.0.0", "10.0.0.0/33", "x/8"]],
  ["date", ["2026-02-28"], ["2026-02-30", "26-01-01", "2026-1-1"]],
  ["date-time", ["2026-01-02T03:04:05Z", "2026-01-02T03:04:05.6+01:00"], ["2026-01-02", "2026-13-02T03:04:05Z"]],
  ["duration", ["1h30m", "22 ns", "-1.5s", "0"], ["1", "h"]],
  ["email", ["a@b.c"], ["a", "a@", "a@b@c"]],
  ["hostname", ["a", "a-b.example."], ["-a", "a..b", ""]],
  ["ipv4", ["10.0.0.1"], ["10.0.0", "::1"]],
  ["ipv6", ["::1"], ["10.0.0.1", "g::"]],
  ["isbn", ["0321751043", "978-0321751041"], ["0321751044"]],
  ["k8s-short-name", ["a-1"], ["a.b", "A"]],
  ["mac", ["01:23:45:67:89:ab", "0123.4567.89ab"], ["01:23", "01-23:45:67:89:ab"]],
  ["uri", ["https://a.b/c", "/path"], ["a b", "", "nothing"]],
  ["uuid", ["6BA7B810-9DAD-11D1-80B4-00C04FD430C8"], ["6ba7b810"]],
  ["unheard-of", ["anything"], []],
])("format %s", (format, good, bad) => {
  expect(good.filter((text) => !hasFormat(format, text))).toEqual([]);
  expect(bad.filter((text) => hasFormat(format, text))).toEqual([]);
});

test.each<[string, string[], string[]]>([
  ["^a+$", ["aa"], ["b"]],
  ["(?i)^abc$", ["ABC"], ["x"]],
  ["^[[:alpha:]]+\\z", ["aB"], ["a1"]],
  ["\\Aa\\.b", ["a.b"], ["axb"]],
  ["^(?P<year>\\d{4})$", ["2026"], ["26"]],
  ["^\\p{Lu}\\pL$", ["Ab"], ["ab"]],
  ["^.$", ["😀"], ["ab"]],
  ["^[a-z0-9]([\\-a-z0-9]*[a-z0-9])?$", ["a-b"], ["-a"]],
  ["^a\\_b$", ["a_b"], ["ab"]],
])("pattern %s", (pattern, good, bad) => {
  const compiled = compilePattern(pattern);
  if (!("matches" in compiled)) throw new Error(compiled.problem);
  expect(good.filter((text) => !compiled.matches(text))).toEqual([]);
  expect(bad.filter((text) => compiled.matches(text))).toEqual([]);
});

test.each(["(", "a{2,1}", "(?!a)", "(a)\\1", "(?<=a)b"])("pattern %s is refused", (pattern) => {
  expect(compilePattern(pattern)).toHaveProperty("problem");
});

test("a careless pattern takes no longer than its text is long", () => {
  const compiled = compilePattern("^(a+)+$");
  // An engine that backtracks would need 2^5000 steps.
  expect("matches" in compiled && compiled.matches(`${"a".repeat(5_000)}!`)).toBe(false);
});

describe("a check that would take too long is refused", () => {
  const tooMuch = [expect.stringContaining("it takes too much work to check this value")];
  const items = (schema: Schema): Schema => ({ type: "array", items: schema });
  const many = <T>(count: number, item: T): T[] => Array.from({ length: count }, () => item);

  test.each<[string, Schema, unknown]>([
    ["alternatives for each item", items({ allOf: many(1_000, { minimum: 0 }) }), many(1_000, 1)],
    ["enums of each item", items({ enum: [...many(1_000, "a"), "b"] }), many(1_000, "b")],
    ["a pattern over a long text", { type: "string", pattern: "^(a|b)*$" }, "a".repeat(2_000_000)],
  ])("%s", (_what, schema, value) => {
    expect(problemsOf(schema, value)).toEqual(tooMuch);
  });

  test("and a hundred thousand plain values are not", () => {
    expect(problemsOf(items({ type: "integer" }), many(100_000, 1))).toEqual([]);
  });
});
