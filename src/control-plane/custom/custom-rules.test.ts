import { describe, expect, it, test } from "vitest";
import { formatFieldError } from "../../api/field-error.ts";
import type { JSONSchemaProps } from "../../api/gen/types.ts";
import { compileRules } from "./compile-rules.ts";
import { evaluateRules } from "./evaluate-rules.ts";
import { checkRuleFields, checkRulePrograms } from "./rule-problems.ts";

type Schema = JSONSchemaProps;
type Rule = NonNullable<Schema["x-kubernetes-validations"]>[number];

const withRules = (schema: Schema, ...rules: Rule[]): Schema => ({ ...schema, "x-kubernetes-validations": rules });
const object = (properties: Record<string, Schema>): Schema => ({ type: "object", properties });
const INTEGER: Schema = { type: "integer" };
const TEXT: Schema = { type: "string" };

function judge(schema: Schema, value: unknown, old?: unknown) {
  const rules = compileRules(schema);
  if (!rules) throw new Error("the schema has no rules");
  const { errors, warnings } = evaluateRules(rules, value, old);
  return { errors: errors.map(formatFieldError), warnings };
}

const errorsOf = (...args: Parameters<typeof judge>) => judge(...args).errors;

describe("a rule", () => {
  const scaled = withRules(object({ min: INTEGER, max: INTEGER }), { rule: "self.min <= self.max" });

  it("refuses what it says no to, with its own text", () => {
    expect(errorsOf(object({ spec: scaled }), { spec: { min: 1, max: 2 } })).toEqual([]);
    expect(errorsOf(object({ spec: scaled }), { spec: { min: 3, max: 2 } })).toEqual([
      "spec: Invalid value: failed rule: self.min <= self.max",
    ]);
    expect(errorsOf(scaled, { min: 3, max: 2 })).toEqual(["<nil>: Invalid value: failed rule: self.min <= self.max"]);
  });

  it("has a message, a reason and a path of its own", () => {
    const rule = { rule: "self.min < 3", message: "too many", reason: "FieldValueForbidden", fieldPath: ".min" };
    const schema = object({ spec: withRules(object({ min: INTEGER }), rule) });
    expect(errorsOf(schema, { spec: { min: 3 } })).toEqual(["spec.min: Forbidden: too many"]);
  });

  it("makes its message from the value, or falls back", () => {
    const make = (messageExpression: string) =>
      withRules(INTEGER, { rule: "self < 3", message: "small ones only", messageExpression });
    const say = (expression: string) => errorsOf(object({ a: make(expression) }), { a: 5 });
    expect(say("string(self) + ' is too much'")).toEqual(["a: Invalid value: 5: 5 is too much"]);
    expect(say("string(1 / (self - 5))")).toEqual(["a: Invalid value: 5: small ones only"]);
    expect(say("' '")).toEqual(["a: Invalid value: 5: small ones only"]);
  });

  it("says what went wrong when it cannot be evaluated", () => {
    const schema = object({ a: withRules(object({ x: INTEGER }), { rule: "self.x > 0" }) });
    expect(errorsOf(schema, { a: {} })).toEqual([
      'a: Invalid value: "object": no such key: x evaluating rule: self.x > 0',
    ]);
    const open = withRules(object({ a: { "x-kubernetes-int-or-string": true } }), { rule: "self.a < 5" });
    expect(errorsOf(open, { a: "x" })).toEqual([
      `<nil>: Invalid value: "object": 'no such overload': call arguments did not match a supported operator, function or macro signature for rule: self.a < 5`,
    ]);
  });

  it("is ended when it costs too much, and with it all others", () => {
    const rules = [{ rule: "self.all(x, self.all(y, x == y))" }, { rule: "false" }];
    const list = Array.from({ length: 1_000 }, () => 1);
    expect(errorsOf(object({ a: withRules({ type: "array", items: INTEGER }, ...rules) }), { a: list })).toEqual([
      "a: Invalid value: \"array\": 'operation cancelled: actual cost limit exceeded': no further validation rules will be run due to call cost exceeds limit for rule: self.all(x, self.all(y, x == y))",
    ]);
  });

  it("is evaluated for each item, entry and embedded object", () => {
    const positive = withRules(INTEGER, { rule: "self > 0", message: "no" });
    const schema = object({
      list: { type: "array", items: positive },
      map: { type: "object", additionalProperties: positive },
      "a-b": positive,
    });
    expect(errorsOf(schema, { list: [1, 0], map: { x: 0 }, "a-b": 0 })).toEqual([
      "list[1]: Invalid value: 0: no",
      "map[x]: Invalid value: 0: no",
      "a-b: Invalid value: 0: no",
    ]);
  });
});

test.each([
  [
    "an escaped name",
    object({ "a-b": INTEGER, "c.d": INTEGER, namespace: TEXT }),
    "self.a__dash__b == 1 && self.c__dot__d == 2 && self.__namespace__ == 'x'",
    { "a-b": 1, "c.d": 2, namespace: "x" },
  ],
  [
    "a field whose name is reserved, without the underscores too",
    object({ namespace: TEXT, loop: TEXT }),
    "self.namespace == 'x' && !has(self.loop) && has(self.namespace)",
    { namespace: "x" },
  ],
  [
    "a whole number where any is allowed",
    object({ a: { type: "number" } }),
    "self.a == 1.0 && type(self.a) == double",
    { a: 1 },
  ],
  [
    "a time and a duration",
    object({ a: { type: "string", format: "date-time" }, b: { type: "string", format: "duration" } }),
    "self.a + self.b == timestamp('2024-01-01T01:00:00Z')",
    { a: "2024-01-01T00:00:00Z", b: "1h" },
  ],
  ["bytes", object({ a: { type: "string", format: "byte" } }), "self.a == b'hi'", { a: "aGk=" }],
  [
    "a set in any order",
    object({ a: { type: "array", items: TEXT, "x-kubernetes-list-type": "set" } }),
    "self.a == ['x', 'y'] && self.a + ['y', 'z'] == ['z', 'y', 'x']",
    { a: ["y", "x"] },
  ],
  [
    "the name of the object",
    object({}),
    "self.metadata.name == 'one' && self.kind == 'A'",
    { kind: "A", metadata: { name: "one" } },
  ],
  [
    "a nullable field",
    object({ a: { type: "string", nullable: true } }),
    "!has(self.a) || dyn(self.a) == null",
    { a: null },
  ],
])("a rule sees %s", (_name, schema, rule, value) => {
  expect(errorsOf(withRules(schema, { rule }), value)).toEqual([]);
});

describe("a rule about a change", () => {
  const immutable = withRules(TEXT, { rule: "self == oldSelf", message: "immutable" });

  it("is evaluated where there was a value", () => {
    const schema = object({ a: immutable });
    expect(errorsOf(schema, { a: "x" })).toEqual([]);
    expect(errorsOf(schema, { a: "x" }, {})).toEqual([]);
    expect(errorsOf(schema, { a: "y" }, { a: "x" })).toEqual(['a: Invalid value: "y": immutable']);
  });

  it("finds the item of a map list that has the same keys", () => {
    const items = withRules(object({ name: TEXT, size: INTEGER }), {
      rule: "self.size >= oldSelf.size",
      message: "no",
    });
    const list: Schema = {
      type: "array",
      items,
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["name"],
    };
    const old = {
      list: [
        { name: "a", size: 1 },
        { name: "b", size: 5 },
      ],
    };
    const next = {
      list: [
        { name: "b", size: 4 },
        { name: "c", size: 0 },
        { name: "a", size: 2 },
      ],
    };
    expect(errorsOf(object({ list }), next, old)).toEqual(["list[0]: Invalid value: no"]);
  });

  it("may want to know that there was none", () => {
    const rule = { rule: "oldSelf.hasValue() || self == 'first'", message: "first", optionalOldSelf: true };
    const schema = object({ a: withRules(TEXT, rule) });
    expect(errorsOf(schema, { a: "x" })).toEqual(['a: Invalid value: "x": first']);
    expect(errorsOf(schema, { a: "x" }, { a: "y" })).toEqual([]);
  });
});

test("what an update did not change is a warning", () => {
  const short = withRules(TEXT, { rule: "self.size() < 3", message: "too long" });
  const schema = object({ a: short, list: { type: "array", items: short } });
  const old = { a: "long", list: ["long"] };
  expect(judge(schema, { ...old, b: 1 }, old)).toEqual({
    errors: [],
    warnings: ['a: Invalid value: "long": too long', 'list[0]: Invalid value: "long": too long'],
  });
  expect(errorsOf(schema, { a: "longer", list: ["long", "x"] }, old)).toEqual([
    'a: Invalid value: "longer": too long',
    'list[0]: Invalid value: "long": too long',
  ]);
});

describe("a definition", () => {
  const problemsOf = (schema: Schema) => {
    const fields = checkRuleFields(schema, "s");
    return (fields.length > 0 ? fields : checkRulePrograms(schema, "s")).map(formatFieldError);
  };

  test.each<[string, Rule, string]>([
    ["an unknown field", { rule: "self.z > 1" }, "s.x-kubernetes-validations[0].rule: Invalid value:"],
    ["another type than bool", { rule: "self.a" }, "cel expression must evaluate to a bool"],
    ["no text", { rule: " " }, "s.x-kubernetes-validations[0].rule: Required value: rule is not specified"],
    ["lines without a message", { rule: "true\n&& true" }, "message must be specified if rule contains line breaks"],
    [
      "a message of another type",
      { rule: "true", messageExpression: "1" },
      "messageExpression must evaluate to a string",
    ],
    ["a path to nowhere", { rule: "true", fieldPath: ".z" }, "must be a valid path"],
    ["an unknown reason", { rule: "true", reason: "Because" }, 'Unsupported value: "Because"'],
    [
      "optionalOldSelf without use",
      { rule: "true", optionalOldSelf: true },
      "may not be set if oldSelf is not used in rule",
    ],
  ])("is refused for a rule with %s", (_name, rule, problem) => {
    expect(problemsOf(withRules(object({ a: INTEGER }), rule)).join()).toContain(problem);
  });

  it("is refused for a rule that compares what cannot be compared", () => {
    const list: Schema = { type: "array", items: withRules(TEXT, { rule: "self == oldSelf" }) };
    expect(problemsOf(object({ list })).join()).toContain(
      "oldSelf cannot be used on the uncorrelatable portion of the schema within s.properties[list]",
    );
  });
});
