import { describe, expect, it } from "vitest";
import { casts } from "./rules/casts.ts";
import { noDefaultExport, noEnum, noInheritance } from "./rules/declarations.ts";
import { docComments } from "./rules/doc-comments.ts";
import { FILE_LIMIT, fileLength, MEDIAN_LIMIT, MOST_LIMIT } from "./rules/file-length.ts";
import { FUNCTION_LIMIT, functionLength, TEST_FUNCTION_LIMIT } from "./rules/function-length.ts";
import { parameters } from "./rules/parameters.ts";
import { noAny, noNonNull, noSilencing } from "./rules/type-holes.ts";
import type { Rule } from "./source.ts";
import { findIn, linesFoundIn } from "./tree-of.ts";

interface Case {
  rule: Rule;
  violations: string[];
  fine: string[];
}

/** One line of code each. */
const CASES: readonly Case[] = [
  {
    rule: noAny,
    violations: ["let x: any;", "function f(x: Map<string, any>) {}", "type A = any[];"],
    fine: ["let any: unknown;", "const text = ': any';", "// any"],
  },
  {
    rule: noNonNull,
    violations: ["const x = y!;", "y!.z();", "let x!: string;", "class A { x!: string }"],
    fine: ["const x = !y;", "if (x !== y) z();"],
  },
  {
    rule: noSilencing,
    violations: ["// @ts-ignore", "/* @ts-expect-error it lies */", "// @ts-nocheck"],
    fine: ["const text = '// @ts-ignore';", "// see how @ts-ignore is refused"],
  },
  {
    rule: casts,
    violations: ["const x = y as Pod;", "const x = <Pod>y;", "const x = y as unknown;"],
    fine: ["const x = [1] as const;", "const x = y satisfies Pod;", "import { x as y } from './x.ts';"],
  },
  {
    rule: noDefaultExport,
    violations: ["export default 1;", "export default function f() {}", "export { x as default };", "export = x;"],
    fine: ["export const x = 1;", "import x from './x.ts';", "switch (x) { default: y(); }"],
  },
  { rule: noEnum, violations: ["enum A { B }", "const enum A { B }"], fine: ["const A = { B: 0 } as const;"] },
  {
    rule: noInheritance,
    violations: ["class A extends B {}", "const A = class extends EventEmitter {};"],
    fine: [
      "class A extends Error {}",
      "class A extends CodedError<'x'> {}",
      "interface A extends B {}",
      "class A implements B {}",
    ],
  },
  {
    rule: parameters,
    violations: [
      "function f(a, b, c, d, e) {}",
      "const f = (a, b, c, d, e) => 1;",
      "interface A { f(a, b, c, d, e): void }",
    ],
    fine: ["function f(a, b, c, d) {}", "function f(this: A, a, b, c, d) {}"],
  },
  {
    rule: docComments,
    violations: [
      "export function f() {}",
      "export interface A {}",
      "export class A {}",
      "/* a */ export const f = () => 1;",
    ],
    fine: [
      "export interface A {\n/** a */ b: string }",
      "/** a */ export interface Pleg {} export function createPleg() {}",
      "/** a */ export function f() {}",
      "function f() {}",
      "export type A = 1;",
      "export const X = 1;",
    ],
  },
];

describe.each(CASES.map((item) => ({ ...item, name: item.rule.name })))("$name", ({ rule, violations, fine }) => {
  it.each(violations)("refuses %s", (line) => {
    expect(linesFoundIn(rule, "src/node/loop/a.ts", "", line)).toEqual([2]);
  });

  it.each(fine)("accepts %s", (line) => {
    expect(linesFoundIn(rule, "src/node/loop/a.ts", "", line)).toEqual([]);
  });
});

it("a table of cases may have as many columns as it needs", () => {
  const table = 'it.each(rows)("a", (a, b, c, d, e) => {});';
  expect(linesFoundIn(parameters, "src/a.test.ts", table)).toEqual([]);
  expect(linesFoundIn(parameters, "src/a.ts", table)).toEqual([1]);
});

it("casts are accepted where the outside world is decoded", () => {
  expect(linesFoundIn(casts, "src/cri/decode.ts", "const x = y as Pod;")).toEqual([]);
});

const lines = (count: number) => "\n".repeat(count);

describe("file-length", () => {
  const files = (count: number, lineCount: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`src/a/${index}.ts`, lines(lineCount)]));

  it("accepts the limit and refuses a line more", () => {
    expect(findIn(fileLength, { "src/a.ts": lines(FILE_LIMIT), "src/b.ts": lines(FILE_LIMIT + 1) })).toEqual([
      "src/b.ts:1",
    ]);
  });

  it("wants half of the files, and nine of ten, to be short", () => {
    expect(findIn(fileLength, files(40, MEDIAN_LIMIT))).toEqual([]);
    expect(findIn(fileLength, files(40, MEDIAN_LIMIT + 1))).toEqual(["src:1"]);
    expect(findIn(fileLength, files(40, MOST_LIMIT + 1))).toEqual(["src:1", "src:1"]);
  });

  it("counts neither tests nor benches for that", () => {
    const tests = Object.entries(files(40, FILE_LIMIT)).map(([path, text]) => [path.replace(".ts", ".test.ts"), text]);
    expect(findIn(fileLength, { ...files(40, 10), ...Object.fromEntries(tests) })).toEqual([]);
  });
});

describe("function-length", () => {
  const functionOf = (count: number) => `function f() {${lines(count - 1)}}`;

  it.each([
    ["src/a.ts", FUNCTION_LIMIT],
    ["src/a.test.ts", TEST_FUNCTION_LIMIT],
    ["test/sim/a.ts", TEST_FUNCTION_LIMIT],
  ])("in %s, accepts %d lines and refuses one more", (path, limit) => {
    expect(linesFoundIn(functionLength, path, functionOf(limit))).toEqual([]);
    expect(linesFoundIn(functionLength, path, "", functionOf(limit + 1))).toEqual([2]);
  });

  it("counts the tests in a describe, not the describe", () => {
    const body = `describe("a", () => {${lines(200)}});`;
    expect(linesFoundIn(functionLength, "src/a.test.ts", body)).toEqual([]);
    expect(linesFoundIn(functionLength, "src/a.test.ts", body.replace("describe", "it"))).toEqual([1]);
  });
});
