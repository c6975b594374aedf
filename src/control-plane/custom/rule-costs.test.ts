import { describe, expect, it } from "vitest";
import { formatFieldError } from "../../api/field-error.ts";
import type { JSONSchemaProps } from "../../api/gen/types.ts";
import { estimateExpression } from "../cel/program.ts";
import { ruleVariables } from "./compile-rules.ts";
import { checkRuleCosts } from "./rule-costs.ts";
import { ruleType } from "./rule-schema.ts";
import { schemaSize } from "./rule-sizes.ts";

type Schema = JSONSchemaProps;

const NUMBER: Schema = { type: "number" };
const TEXT: Schema = { type: "string" };
const DATE_TIME: Schema = { type: "string", format: "date-time" };
const EITHER: Schema = { "x-kubernetes-int-or-string": true };
const object = (properties: Record<string, Schema>, required: string[] = []): Schema => {
  return { type: "object", properties, required };
};
const list = (items: Schema, maxItems?: number): Schema => ({
  type: "array",
  items,
  ...(maxItems !== undefined && { maxItems }),
});
const map = (additionalProperties: Schema, maxProperties?: number): Schema => {
  return { type: "object", additionalProperties, ...(maxProperties !== undefined && { maxProperties }) };
};
const text = (maxLength: number): Schema => ({ ...TEXT, maxLength });
const ITEM = object({ required: TEXT, optional: TEXT }, ["required"]);

/** The figures are kube-apiserver's, of the cases in `pkg/apiserver/schema/cel/compilation_test.go`. */
const COSTS: readonly (readonly [string, Schema, number])[] = [
  ["self.all(x, true)", list(NUMBER), 4_718_591],
  ["self.all(x, true)", list(NUMBER, 10), 32],
  ["self.all(x, true)", list(TEXT), 3_145_727],
  ["self.all(x, true)", list({ type: "boolean" }), 1_887_437],
  ["self.all(x, true)", list(list(NUMBER)), 3_145_727],
  ["self.all(x, true)", list(ITEM, 50), 152],
  ["self.all(x, true)", list(EITHER), 4_718_591],
  ["self.all(x, true)", list({ type: "string", format: "duration" }), 2_359_295],
  ["self.all(x, true)", list({ type: "string", format: "date" }), 725_936],
  ["self.all(x, true)", list(DATE_TIME), 428_963],
  ["self.all(x, true)", map(NUMBER), 1_348_169],
  ["self.all(x, true)", map(TEXT), 1_179_647],
  ["self.all(x, true)", map(ITEM), 428_963],
  ["self.all(x, true)", map(DATE_TIME), 349_526],
  ["has(self.x)", map(NUMBER), 1],
  ["cidr(self) == cidr(self).masked()", text(48), 44],
  ["quantity(self) == quantity(self)", text(48), 5],
  ["self.contains('test')", TEXT, 314_574],
  ["self.contains('test')", text(10), 5],
  ["self.startsWith('test')", TEXT, 2],
  ["size(self + 'hello') > size('hello')", TEXT, 314_578],
  ["size(self + 'hello') > size('hello')", text(4), 7],
  ["self[1] == 0.0", list(NUMBER), 2],
  ["self[1] == self[1]", list(TEXT, 8), 314_577],
  ["self.all(x, self.all(y, true))", list(NUMBER, 10), 352],
  ["self.all(x, self.all(y, self.all(z, true)))", list(NUMBER, 10), 3_552],
  ["self.matches('x')", TEXT, 314_574],
  ["self.matches('x')", text(50), 22],
  ["''.matches('(((((((((())))))))))[0-9]')", TEXT, 7],
  ["self.matches('')", TEXT, 1],
  ["self.all(x, x.contains(self[x]))", map(TEXT), 2_752_507],
  ["self.all(x, x.contains(self[x]))", map(text(10), 10), 72],
  ["self == 'x'", TEXT, 2],
  ["self == 'x'", text(0), 1],
  ["self == b'x'", { ...TEXT, format: "byte" }, 2],
  ["self.all(x, x == 0.0)", list(NUMBER), 6_291_454],
  [`self.all(x, x["y"].required == "z")`, list(map(ITEM)), 7_340_027],
  [`self.all(x, x["y"].required == "z")`, list(map(ITEM), 10), 72],
  ["self[0] == 5", list(EITHER), 3],
  ["self[0] == null", list(ITEM), 2],
  ["self[0][0] == -1.0", list(list(NUMBER)), 3],
  ["self.all(x, x.y == 25.2)", list(map(NUMBER)), 6_291_452],
  ["self[0].x > 2.0", list(map(NUMBER)), 4],
  ["self[2].getMinutes() == 45", list(DATE_TIME), 4],
  ["self.find('[0-9]+') == ''", TEXT, 629_147],
  ["self.find('[0-9]+') == ''", text(10), 11],
  ["self.join(' ') == 'aa bb'", list(TEXT), 329_853_068_905],
  ["self.join(' ') == 'aa bb'", list(text(10), 10), 43],
  ["self.isSorted() == true", list(TEXT), 329_854_432_052],
  ["self.isSorted() == true", list(text(10), 10), 52],
  [
    "self.str.replace(self.before, self.after) == 'does not matter'",
    object({ str: TEXT, before: text(2), after: text(4) }),
    629_154,
  ],
  [
    "self.str.replace(self.before, self.after) == 'does not matter'",
    object({ str: text(4), before: text(2), after: text(4) }),
    12,
  ],
  ["self.str.split(self.separator) == []", object({ str: TEXT, separator: TEXT }), 629_160],
  ["self.lowerAscii() == 'lower!'", TEXT, 314_575],
  ["oldSelf.size() == self.size()", map({ type: "integer" }), 5],
  [`self["a"] == self["b"]`, map(DATE_TIME), 8],
  ["self.contains('A')", { ...TEXT, enum: ["A", "B", "C", "LongValue"] }, 2],
  ["self.contains('A')", { ...TEXT, maxLength: 1_000, enum: ["A", "LongValue"] }, 401],
];

it.each(COSTS)("%s costs as kube-apiserver estimates it (%#)", (rule, schema, cost) => {
  const type = ruleType(schema, "self", false) ?? expect.fail("the schema has no type");
  const declared = schemaSize(schema, false) ?? expect.fail("the schema has no size");
  expect(estimateExpression(rule, ruleVariables({ rule }, type), declared)).toBe(cost);
});

/** Figures of our own, for what upstream's cases leave out: they are worked out by hand after cel-go's macros. */
it.each<[string, Schema, number]>([
  ["self.exists(x, true)", list(NUMBER, 10), 42],
  ["self.exists_one(x, true)", list(NUMBER, 10), 23],
  ["self.map(x, x).size() > 0", list(NUMBER, 10), 10 * 13 + 14],
  ["self.filter(x, true).size() > 0", list(NUMBER, 10), 10 * 13 + 14],
  ["self.map(x, x > 0.0, x).size() > 0", list(NUMBER, 10), 10 * 15 + 14],
  ["self.all(i, x, i >= 0)", list(NUMBER, 10), 10 * 5 + 2],
  ["(self == 'a' ? 'long text' : self) == 'b'", text(10), 2 + 1 + 1],
  ["self in ['a', 'b']", text(10), 1 + 10 + 2],
  ["sets.contains(self, ['a'])", list(TEXT, 5), 1 + 10 + 6],
  ["optional.of(self).optMap(x, true).hasValue()", text(3), 2 + 1 + (10 + 2 + 1 + 0) + 1 + 1],
])("%s costs %#", (rule, schema, cost) => {
  const type = ruleType(schema, "self", false) ?? expect.fail("the schema has no type");
  const declared = schemaSize(schema, false) ?? expect.fail("the schema has no size");
  expect(estimateExpression(rule, ruleVariables({ rule }, type), declared)).toBe(cost);
});

describe("a definition is refused", () => {
  const withRules = (schema: Schema, ...rules: string[]): Schema => ({
    ...schema,
    "x-kubernetes-validations": rules.map((rule) => ({ rule })),
  });
  const problemsOf = (schema: Schema) => checkRuleCosts(schema, "s").map(formatFieldError);
  const ADVICE =
    "(try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)";

  it("for a rule whose cost has no bound", () => {
    const schema = object({ a: withRules(list(TEXT), "self.all(x, self.exists(y, x == y))") });
    expect(problemsOf(schema)).toEqual([
      `s.properties[a].x-kubernetes-validations[0].rule: Forbidden: estimated rule cost exceeds budget by factor of more than 100x ${ADVICE}`,
      "s.properties[a].x-kubernetes-validations[0].rule: Forbidden: contributed to estimated rule & messageExpression cost total exceeding cost limit for entire OpenAPIv3 schema",
      `s: Forbidden: x-kubernetes-validations estimated rule & messageExpression cost total for entire OpenAPIv3 schema exceeds budget by factor of more than 100x ${ADVICE}`,
    ]);
  });

  it("for a rule that is a little too dear", () => {
    const dear = withRules(list(NUMBER, 3_400_000), "self.all(x, true)");
    expect(problemsOf(object({ a: dear }))).toEqual([expect.stringContaining("by factor of 1.020000x (")]);
    const dearer = withRules(list(NUMBER, 8_000_000), "self.all(x, true)");
    expect(problemsOf(object({ a: dearer }))).toEqual([expect.stringContaining("by factor of 2.4x (")]);
  });

  it("for rules that are too dear together, the dearest of which are named", () => {
    const rules = Object.fromEntries(
      [9, 8, 7, 6, 5].map((factor) => [
        `f${factor}`,
        withRules(list(NUMBER, factor * 360_000), ...Array.from({ length: 3 }, () => "self.all(x, true)")),
      ]),
    );
    const problems = problemsOf(object(rules));
    const named = problems.slice(0, -1);
    expect(named).toHaveLength(4);
    expect(named.map((problem) => /properties\[(\w+)\]/.exec(problem)?.[1])).toEqual(["f9", "f9", "f9", "f8"]);
    expect(problems.at(-1)).toContain("cost total for entire OpenAPIv3 schema exceeds budget by factor of 1.134000x");
  });

  it("by how often a value may occur", () => {
    const item = withRules(object({ a: NUMBER }), "self.a > 1.0");
    expect(problemsOf(object({ list: list(item, 1_000) }))).toEqual([]);
    expect(problemsOf(object({ list: list(item, 4_000_000) }))).toEqual([expect.stringContaining("of 1.200000x")]);
    expect(problemsOf(object({ list: list(item) }))).toEqual([]);
    expect(problemsOf(object({ map: map(list(withRules(TEXT, "self.matches('x')"), 5)) }))).not.toEqual([]);
  });

  it("for a message that costs too much, once", () => {
    const message = { rule: "true", messageExpression: "self.map(x, x + x).join(',')" };
    const schema = { ...list(text(1_000), 1_000_000), "x-kubernetes-validations": [message] };
    expect(problemsOf(object({ a: schema }))[0]).toContain(
      "messageExpression: Forbidden: estimated messageExpression cost",
    );
  });
});
