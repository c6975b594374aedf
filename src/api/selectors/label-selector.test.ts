import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ApiError } from "../api-error.ts";
import { labelSelectorOf, parseLabelSelector } from "./label-selector.ts";

function messageOf(action: () => unknown): string {
  try {
    action();
  } catch (error) {
    if (error instanceof ApiError && error.reason === "BadRequest") return error.message;
    throw error;
  }
  return "";
}

describe("printing what was parsed", () => {
  it.each([
    ["", ""],
    [" \t", ""],
    ["x=a,y=b,z=c", "x=a,y=b,z=c"],
    ["z=1, a == 2 ,m!=3", "a==2,m!=3,z=1"],
    ["x!=a,y=b", "x!=a,y=b"],
    ["x=", "x="],
    ["x= ,z= ", "x=,z="],
    ["x>1,z<5", "x>1,z<5"],
    ["x in (b,a), y notin (c)", "x in (a,b),y notin (c)"],
    ["x in (a,a,b)", "x in (a,b)"],
    ["x notin ()", "x notin ()"],
    ["x in (,a)", "x in (,a)"],
    ["x in (a,,b)", "x in (,a,b)"],
    ["x in (a,)", "x in (,a)"],
    ["x in(a)", "x in (a)"],
    ["x", "x"],
    ["!x , ! y", "!x,!y"],
    ["in in (in,notin)", "in in (in,notin)"],
    ["notin=in", "notin=in"],
    ["example.com/a.b-c_d=E.f_g-1", "example.com/a.b-c_d=E.f_g-1"],
    ["x\n=\r\na", "x=a"],
  ])("%j is %j", (text, printed) => {
    const selector = parseLabelSelector(text);
    expect(String(selector)).toBe(printed);
    expect(selector.isEverything).toBe(printed === "");
  });
});

describe("what is refused", () => {
  const unparsed = "unable to parse requirement: ";
  it.each([
    ["x=a||y=b", `${unparsed}values[0][x]: Invalid value: "a||y": a valid label must be`],
    ["x==a==b", "found '==', expected: ',' or 'end of string'"],
    ["!x=a", "found '=', expected: ',' or 'end of string'"],
    ["x<a", `${unparsed}values[0]: Invalid value: "a": for 'Gt', 'Lt' operators, the value must be an integer`],
    ["x=a b", "found 'b', expected: ',' or 'end of string'"],
    ["x=a,", "found '', expected: identifier after ','"],
    ["x=a,,y=b", "found ',', expected: identifier after ','"],
    [",x=a", "found ',', expected: !, identifier, or 'end of string'"],
    ["(x)", "found '(', expected: !, identifier, or 'end of string'"],
    ["!", `${unparsed}found '', expected: identifier`],
    ["x a", `${unparsed}found 'a', expected: in, notin, =, ==, !=, gt, lt`],
    ["x!", `${unparsed}found '!', expected: in, notin, =, ==, !=, gt, lt`],
    ["x==(a)", `${unparsed}found '(', expected: identifier`],
    ["x in a", `${unparsed}found 'a' expected: '('`],
    ["x in", `${unparsed}found '' expected: '('`],
    ["x in (", `${unparsed}found '', expected: ',', ')' or identifier`],
    ["x in (=)", `${unparsed}found '=', expected: ',', ')' or identifier`],
    ["x in (a", `${unparsed}found '', expected: ',' or ')'`],
    ["x in (a b)", `${unparsed}found 'b', expected: ',' or ')'`],
    ["x in (a,", `${unparsed}found '', expected: ',', or identifier`],
    ["x in (a,=)", `${unparsed}found '=', expected: ',', or identifier`],
    ["-x=a", `${unparsed}<nil>: Invalid value: "-x": name part must consist of alphanumeric characters`],
    ["A/b=c", `${unparsed}<nil>: Invalid value: "A/b": prefix part a lowercase RFC 1123 subdomain`],
    [`${"k".repeat(64)}=a`, `${unparsed}<nil>: Invalid value: "${"k".repeat(64)}": name part must be no more than 63`],
    [`x=${"v".repeat(64)}`, `${unparsed}values[0][x]: Invalid value: "${"v".repeat(64)}": must be no more than 63`],
    ["x in (a,-b)", `${unparsed}values[0][x]: Invalid value: "-b": a valid label must be`],
    ["x>9223372036854775808", `${unparsed}values[0]: Invalid value: "9223372036854775808": for 'Gt', 'Lt'`],
  ])("%j", (text, message) => {
    // Some rules are long; their beginning says which one it is.
    expect(messageOf(() => parseLabelSelector(text)).slice(0, message.length)).toBe(message);
  });

  it("names every problem of one requirement", () => {
    expect(messageOf(() => parseLabelSelector("x>-a"))).toMatch(
      /^unable to parse requirement: \[values\[0\]: .*, values\[0\]\[x\]: .*\]$/,
    );
  });
});

describe("matching", () => {
  const labels = { app: "web", tier: "1", empty: "", large: "9223372036854775807" };
  it.each([
    ["", true],
    ["app=web", true],
    ["app==api", false],
    ["app=web,tier=2", false],
    ["app!=api", true],
    ["app!=web", false],
    ["missing!=a", true],
    ["missing=", false],
    ["empty=", true],
    ["app in (api,web)", true],
    ["app in (api)", false],
    ["missing in (a)", false],
    ["app notin (api)", true],
    ["app notin (web)", false],
    ["missing notin (a)", true],
    ["app", true],
    ["missing", false],
    ["!app", false],
    ["!missing", true],
    ["tier>0", true],
    ["tier>1", false],
    ["tier<2", true],
    ["tier<1", false],
    ["app>0", false],
    ["missing<9", false],
    ["large>9223372036854775806", true],
    ["large<9223372036854775807", false],
    ["constructor", false],
    ["toString!=a", true],
  ])("%j: %j", (text, expected) => {
    expect(parseLabelSelector(text).matches(labels)).toBe(expected);
  });

  it("takes no labels for empty ones", () => {
    expect(parseLabelSelector("!a").matches(undefined)).toBe(true);
    expect(parseLabelSelector("a").matches(undefined)).toBe(false);
  });
});

describe("the selector of an object's field", () => {
  it("matches nothing when there is none, and everything when it is empty", () => {
    const [none, empty] = [labelSelectorOf(undefined), labelSelectorOf({})];
    expect([none.matches({ a: "b" }), none.matches(undefined), none.isEverything, String(none)]).toEqual([
      false,
      false,
      false,
      "",
    ]);
    expect([empty.matches({ a: "b" }), empty.matches(undefined), empty.isEverything]).toEqual([true, true, true]);
  });

  it("joins labels and expressions", () => {
    const selector = labelSelectorOf({
      matchLabels: { b: "1" },
      matchExpressions: [
        { key: "c", operator: "NotIn", values: ["y", "x"] },
        { key: "a", operator: "Exists" },
        { key: "d", operator: "DoesNotExist", values: [] },
        { key: "e", operator: "In", values: ["z"] },
      ],
    });
    expect(String(selector)).toBe("a,b=1,c notin (x,y),!d,e in (z)");
    expect(selector.matches({ a: "", b: "1", e: "z" })).toBe(true);
    expect(selector.matches({ a: "", b: "1", c: "x", e: "z" })).toBe(false);
  });

  it.each([
    [{ key: "a", operator: "Near" }, '"Near" is not a valid label selector operator'],
    [{ key: "a", operator: "In" }, "values: Invalid value: []: for 'in', 'notin' operators, values set can't be empty"],
    [
      { key: "a", operator: "Exists", values: ["b"] },
      'values: Invalid value: ["b"]: values set must be empty for exists and does not exist',
    ],
    [{ key: "-", operator: "Exists" }, 'key: Invalid value: "-": name part must consist of'],
  ])("refuses %j", (expression, message) => {
    expect(messageOf(() => labelSelectorOf({ matchExpressions: [expression] })).slice(0, message.length)).toBe(message);
  });
});

describe("any selector", () => {
  const key = fc.constantFrom("a", "b", "in", "x.io/c");
  const value = fc.constantFrom("", "1", "2", "in", "notin", "v-1");
  const values = fc.uniqueArray(value, { minLength: 1, maxLength: 3 });
  const integer = fc.integer({ min: 0, max: 3 }).map(String);
  const requirement = fc.oneof(
    fc.tuple(key, fc.constantFrom("=", "==", "!="), value).map(([name, operator, text]) => ({
      text: `${name}${operator}${text}`,
      holds: (has: string | undefined) => (has === text) === (operator !== "!="),
    })),
    fc.tuple(key, fc.boolean(), values).map(([name, isIn, list]) => ({
      text: `${name} ${isIn ? "in" : "notin"} (${list.join(",")})`,
      holds: (has: string | undefined) => (has !== undefined && list.some((item) => item === has)) === isIn,
    })),
    fc.tuple(key, fc.boolean()).map(([name, exists]) => ({
      text: `${exists ? "" : "!"}${name}`,
      holds: (has: string | undefined) => (has !== undefined) === exists,
    })),
    fc.tuple(key, fc.boolean(), integer).map(([name, isMore, bound]) => ({
      text: `${name}${isMore ? ">" : "<"}${bound}`,
      holds: (has: string | undefined) => {
        const isNumber = has !== undefined && /^\d+$/.test(has);
        return isNumber && (isMore ? Number(has) > Number(bound) : Number(has) < Number(bound));
      },
    })),
  );
  const keyOf = (text: string) => /^!?([^ =!<>]+)/.exec(text)?.[1] ?? "";

  it("matches as each requirement for itself does", () => {
    fc.assert(
      fc.property(fc.array(requirement, { maxLength: 4 }), fc.dictionary(key, value), (requirements, labels) => {
        const selector = parseLabelSelector(requirements.map(({ text }) => text).join(", "));
        expect(selector.matches(labels)).toBe(requirements.every(({ text, holds }) => holds(labels[keyOf(text)])));
      }),
    );
  });

  it("prints so that it reads back the same", () => {
    fc.assert(
      fc.property(fc.array(requirement, { maxLength: 4 }), (requirements) => {
        const selector = parseLabelSelector(requirements.map(({ text }) => text).join(" ,"));
        const again = parseLabelSelector(String(selector));
        expect(again.requirements).toEqual(selector.requirements);
        expect(String(again)).toBe(String(selector));
      }),
    );
  });

  it("of any text is a selector or a BadRequest", () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(..."ab1=!<>(),- \t/in\u0000é") }), (text) => {
        const message = messageOf(() => parseLabelSelector(text));
        if (message === "")
          expect(String(parseLabelSelector(String(parseLabelSelector(text))))).toBe(String(parseLabelSelector(text)));
        else expect(message).toMatch(/^(found|unable to parse requirement: )/);
      }),
    );
  });
});
