import { describe, expect, it, test } from "vitest";
import { AUTHORIZER } from "./functions/authorization.ts";
import { plainValue } from "./plain-value.ts";
import { compileExpression } from "./program.ts";
import * as types from "./types.ts";
import type { AuthorizerValue, CelValue } from "./values.ts";

const OBJECT: types.CelType = {
  kind: "object",
  name: "selfType",
  fields: new Map<string, types.CelType>([
    ["name", types.STRING],
    ["count", types.INT],
    ["tags", types.listType(types.STRING)],
    ["array", types.listType(types.INT)],
    ["limits", types.mapType(types.STRING, types.INT)],
    ["port", types.DYN],
    ["old", types.optionalType(types.INT)],
  ]),
};

const VARIABLES = new Map<string, types.CelType>([
  ["self", OBJECT],
  ["object", types.DYN],
  ["authorizer", AUTHORIZER],
]);

const SELF = plainValue({
  name: "né😀",
  count: 3,
  tags: ["a", "b", "a"],
  array: [1, 1, 2, 2, 3, 3, 4, 5],
  limits: { cpu: 2, memory: 5 },
  port: "80%",
});

const AUTHORIZE: AuthorizerValue = {
  kind: "authorizer",
  decide: ({ verb, resource, namespace, fieldSelector }) => {
    const selected = fieldSelector === undefined ? "" : ` of ${fieldSelector}`;
    return { allowed: verb === "get", reason: `${resource} in ${namespace}${selected}` };
  },
  forAccount: () => AUTHORIZE,
};

function readVariable(name: string): CelValue | undefined {
  if (name === "authorizer") return AUTHORIZE;
  return name === "self" || name === "object" ? SELF : undefined;
}

function evaluate(text: string, limit?: number) {
  const program = compileExpression(text, VARIABLES);
  return "problem" in program ? program : program.evaluate(readVariable, limit);
}

/** The value of the expression, or the words of its failure. */
function resultOf(text: string): CelValue | string {
  const result = evaluate(text);
  if ("problem" in result) return result.problem.split("\n")[0] ?? "";
  return result.outcome === "value" ? result.value : result.message;
}

describe("expressions that hold", () => {
  test.each([
    // Numbers, and how they compare.
    "1 + 2 * 3 == 7 && -7 / 2 == -3 && -7 % 3 == -1",
    "9223372036854775807 > 0 && -9223372036854775808 < 0",
    "1 < 1.5 && 2u > 1 && dyn(1) == dyn(1.0) && dyn(1) == dyn(1u)",
    "int(3.9) == 3 && int('42') == 42 && double('1e3') == 1000.0 && uint(7) == 7u",
    "string(1.0) == '1' && string(1e21) == '1e+21' && string(-0.00001) == '-1e-05'",
    // Strings count characters.
    "self.name.size() == 3 && self.name.charAt(2) == '😀' && self.name.indexOf('😀') == 2",
    "'a,b,,c'.split(',') == ['a', 'b', '', 'c'] && 'a,b,c'.split(',', 2) == ['a', 'b,c']",
    "'hello'.substring(1, 3) == 'el' && 'hello'.replace('l', 'L', 1) == 'heLlo' && 'ab'.replace('', '-') == '-a-b-'",
    "' x '.trim() == 'x' && 'ÄaB'.lowerAscii() == 'Äab' && ['a', 'b'].join('-') == 'a-b'",
    "'%s has %d of %.2f %x'.format([dyn('x'), dyn(3), dyn(1.5), dyn(255)]) == 'x has 3 of 1.50 ff'",
    "r'\\d' == '\\\\d' && b'\\xff'.size() == 1 && '''a\nb'''.size() == 3 && \"\\u00e9\" == 'é'",
    "'abc'.matches('^a.c$') && 'a1b22'.findAll('[0-9]+') == ['1', '22'] && 'a1'.find('[0-9]') == '1'",
    // Lists, maps and macros.
    "self.tags.all(t, t.size() == 1) && self.tags.exists(t, t == 'b') && self.tags.exists_one(t, t == 'b')",
    "self.tags.map(t, t + '!') == ['a!', 'b!', 'a!'] && self.tags.filter(t, t != 'a') == ['b']",
    "self.limits.all(k, self.limits[k] > 1) && 'cpu' in self.limits && !('disk' in self.limits)",
    "[1, 2].all(i, v, v == i + 1) && {'a': 1}.transformMap(k, v, v + 1) == {'a': 2}",
    "[3, 1, 2].sort() == [1, 2, 3] && [1, 2, 2].distinct() == [1, 2] && lists.range(3) == [0, 1, 2]",
    "[1, 2, 3].sum() == 6 && [3, 1].min() == 1 && ['b', 'a'].max() == 'b' && [1, 2].isSorted()",
    "sets.contains([1, 2], [2]) && sets.equivalent([1, 2], [2, 1, 1]) && !sets.intersects([1], [2])",
    "[[1], [2, 3]].flatten() == [1, 2, 3] && [1, 2, 3].slice(1, 2) == [2] && [1, 2].reverse() == [2, 1]",
    // Errors that another operand makes up for.
    "true || 1 / 0 > 0",
    "!(1 / 0 > 0 && false)",
    "[0, 1].exists(x, 1 / x == 1)",
    // Optionals, presence, types.
    "has(self.name) && !has(self.old) && self.?old.orValue(7) == 7 && object.?a.?b.orValue('x') == 'x'",
    "optional.of(1).optMap(x, x + 1).value() == 2 && !optional.none().hasValue() && [1][?3] == optional.none()",
    "type(self.port) == string && type(self.count) == int && type(self) == type(object)",
    // Times.
    "duration('1h30m') == duration('90m') && duration('90s').getSeconds() == 90",
    "timestamp('2024-02-29T12:00:00.5Z') + duration('1s') < timestamp('2024-03-01T00:00:00Z')",
    "timestamp('2024-02-29T23:00:00Z').getHours('+02:00') == 1 && timestamp('2024-01-01T00:00:00Z').getDayOfWeek() == 1",
    // Kubernetes' libraries.
    "quantity('1.5Gi').isGreaterThan(quantity('1G')) && quantity('1k').asInteger() == 1000 && !isQuantity('x')",
    "ip('fd00::1').family() == 6 && string(ip('0:0::1')) == '::1' && ip.isCanonical('10.0.0.1') && !isIP('1.2.3')",
    "cidr('10.1.2.3/16').masked() == cidr('10.1.0.0/16') && cidr('10.0.0.0/8').containsIP('10.2.3.4')",
    "cidr('10.0.0.0/8').containsCIDR('10.1.0.0/16') && !isCIDR('10.0.0.0/33')",
    "url('https://user@example.com:80/a?b=c').getHostname() == 'example.com' && !isURL('../x')",
    "semver('1.2.3-rc.1').isLessThan(semver('1.2.3')) && isSemver('v1.2', true) && semver('1.2.3').minor() == 2",
    "!format.dns1123Label().validate('a-b').hasValue() && format.named('uuid').value().validate('x').hasValue()",
    "authorizer.group('').resource('pods').namespace('ns').check('get').allowed()",
    "authorizer.group('').resource('pods').namespace('ns').check('list').reason() == 'pods in ns'",
    "authorizer.group('').resource('pods').fieldSelector('a=b').check('list').reason() == 'pods in  of a=b'",
    "authorizer.group('').resource('pods').labelSelector('a=b').check('list').reason() == 'pods in '",
  ])("%s", (text) => {
    expect(resultOf(text)).toBe(true);
  });
});

describe("evaluation errors", () => {
  test.each([
    ["1 / (self.count - 3)", "division by zero"],
    ["9223372036854775807 + 1", "integer overflow"],
    ["self.tags[7]", "index out of bounds: 7"],
    ["self.limits['disk']", "no such key: disk"],
    ["self.port + 1 > 0", "no such overload"],
    ["quantity('x') == quantity('1')", "quantities must match the regular expression"],
    ["'x'.matches(self.name + '(')", "missing closing )"],
  ])("%s", (text, problem) => {
    expect(resultOf(text)).toContain(problem);
  });
});

describe("expressions that do not compile", () => {
  test.each([
    ["self.other", "ERROR: <input>:1:5: undefined field 'other'\n | self.other\n | ....^"],
    ["missing > 1", "ERROR: <input>:1:1: undeclared reference to 'missing' (in container '')\n | missing > 1\n | ^"],
    [
      "self.count + 'a'",
      "ERROR: <input>:1:12: found no matching overload for '_+_' applied to '(int, string)'\n | self.count + 'a'\n | ...........^",
    ],
    ["self.name.size(1)", "found no matching overload for 'size' applied to 'string.(int)'"],
    ["[1, 'a']", "expected type 'int' but found 'string'"],
    ["self.count.all(x, x)", "expression of type 'int' cannot be range of a comprehension"],
    ["self.count.name", "type 'int' does not support field selection"],
    ["self.tags.all(t, t)", "expected type 'bool' but found 'string'"],
    ["self.name ==", "Syntax error: mismatched input '<EOF>'"],
    ["1 +* 2", "Syntax error"],
    ["'abc", "Syntax error: token recognition error"],
    ["has(self)", "invalid argument to has() macro"],
    [`${"(".repeat(300)}1${")".repeat(300)}`, "expression recursion limit exceeded: 250"],
    [Array.from({ length: 300 }, () => "1").join("+"), "expression recursion limit exceeded: 250"],
  ])("%s", (text, problem) => {
    const program = compileExpression(text, VARIABLES);
    expect("problem" in program && program.problem).toContain(problem);
  });

  it("shows a hundred problems, and counts the others", () => {
    const program = compileExpression("a \u0000".repeat(300), VARIABLES);
    const lines = "problem" in program ? program.problem.split("\n") : [];
    expect(lines).toHaveLength(3 * 100 + 1);
    expect(lines.at(-1)).toBe("200 more errors were truncated");
  });

  it("takes a long chain of alternatives, which is no deep tree", () => {
    expect(resultOf(Array.from({ length: 2_000 }, () => "false").join(" || "))).toBe(false);
  });
});

test.each([
  ["self.count == 3", 3],
  ["type(self.count) == int", 4],
  ["self.count + 1 == 3 + 1", 5],
  ["has(self.name)", 1],
  ["self.array.all(e, e > 0)", 43],
  ["self.array.exists(e, e > 2)", 36],
  ["self.array.exists_one(e, e > 4)", 22],
  ["!self.array.all(e, e < 2)", 21],
  ["!self.array.exists(e, e < 0)", 52],
  ["!self.array.exists_one(e, e == 2)", 25],
  ["size(self.array.filter(e, e%2 == 0)) == 3", 68],
  ["self.array.map(e, e * 20).filter(e, e > 50).exists(e, e == 60)", 194],
  ["self.limits.all(k, self.limits[k] > 0)", 17],
  ["!self.limits.exists(k, self.limits[k] == 3)", 20],
  ["self.limits.all(k, v, v > 0)", 13],
  ["self.array + [4, 5] == [1, 1, 2, 2, 3, 3, 4, 5, 4, 5]", 4],
])("%s costs what it costs upstream: %d", (text, cost) => {
  expect(evaluate(text)).toMatchObject({ cost });
});

describe("an expression that would take long", () => {
  const many = "lists.range(2000)";
  test.each([
    ["nested loops", `${many}.all(a, ${many}.all(b, a + b >= 0))`],
    [
      "a text that doubles",
      `${"lists.range(40).map(x, 'aaaaaaaaaa').map(a, a + a).map(a, a + a).join().size() > 0 && ".repeat(20)}lists.range(1000000).size() > 0`,
    ],
    ["a list that doubles", `[[0]]${".map(a, [a, a])".repeat(40)} == [[0]]${".map(a, [a, a])".repeat(40)}`],
    ["many patterns", `lists.range(100000).all(x, 'a'.matches('a' + string(x)) || true)`],
    ["a long text that is counted often", `lists.range(10000).all(x, '${"a".repeat(50_000)}'.size() > 0)`],
  ])("is ended: %s", (_name, text) => {
    expect(evaluate(text)).toMatchObject({
      outcome: "exceeded",
      message: "operation cancelled: actual cost limit exceeded",
    });
  });

  it("may cost less than the limit when less is left", () => {
    expect(evaluate("self.tags.all(t, t != '')", 5)).toMatchObject({ outcome: "exceeded" });
  });
});
