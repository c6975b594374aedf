import { describe, expect, it } from "vitest";
import type { Layer } from "./ranks.ts";
import { cycles } from "./rules/cycles.ts";
import { oneName } from "./rules/one-name.ts";
import { createOutsideWorldRule } from "./rules/outside-world.ts";
import { createRanksRule } from "./rules/ranks.ts";
import { unusedExports } from "./rules/unused-exports.ts";
import { findIn, linesFoundIn, treeOf } from "./tree-of.ts";

const LAYERS: readonly Layer[] = [
  { path: "src/base", rank: 0, touchesWorld: true },
  { path: "src/api", rank: 1 },
  { path: "src/config", rank: 1, alsoImports: ["src/api"] },
  { path: "src/host", rank: 2, touchesWorld: true },
  { path: "src/node/loop", rank: 3 },
  { path: "src/node/pleg", rank: 3 },
  { path: "src/node/*", rank: 4 },
];

describe("ranks", () => {
  const rule = createRanksRule(LAYERS, ["src/host/fake"]);
  const importing = (target: string) => `import { x } from "${target}";`;

  it.each([
    ["down", "src/api/pod.ts", "../base/log.ts"],
    ["within a folder", "src/node/loop/a.ts", "./b.ts"],
    ["a folder of the same rank where the table allows it", "src/config/a.ts", "../api/pod.ts"],
    ["a fake, from a test of any rank", "src/base/log.test.ts", "../host/fake/clock.ts"],
    ["a fake, from its own folder", "src/host/fake/a.ts", "./clock.ts"],
    ["the folders that a compose.ts joins", "src/node/compose.ts", "./loop/a.ts"],
    ["the others of a folder's own files", "src/node/compose.ts", "./node-view.ts"],
    ["fixtures, from a test", "src/node/loop/a.test.ts", "./__fixtures__/pods.ts"],
    ["a fake, from a fixture", "src/node/loop/__fixtures__/pods.ts", `${"../".repeat(3)}host/fake/clock.ts`],
    ["a package", "src/api/pod.ts", "yaml"],
    ["anything, from outside src", "test/sim/a.ts", "../../src/node/loop/a.ts"],
  ])("lets a file import %s", (_, path, target) => {
    expect(findIn(rule, { [path]: importing(target) })).toEqual([]);
  });

  it.each([
    ["up", "src/base/log.ts", "../api/pod.ts"],
    ["a folder of the same rank", "src/node/loop/a.ts", "../pleg/b.ts"],
    ["a folder of the same rank the other way round", "src/api/pod.ts", "../config/a.ts"],
    ["a fake, in the product", "src/node/loop/a.ts", "../../host/fake/clock.ts"],
    ["a fake, in the product beside it", "src/host/create-host.ts", "./fake/clock.ts"],
    ["fixtures, in the product", "src/node/loop/a.ts", "./__fixtures__/pods.ts"],
    ["the files above its folder", "src/node/loop/a.ts", "../node-view.ts"],
    ["what is not in src", "src/node/loop/a.ts", `${"../".repeat(3)}test/sim/world.ts`],
  ])("does not let a file import %s", (_, path, target) => {
    expect(findIn(rule, { [path]: importing(target) })).toEqual([`${path}:1`]);
  });

  it("sees imports in every form", () => {
    const lines = [
      'import type { Loop } from "../node/loop/a.ts";',
      'export { x } from "../node/loop/a.ts";',
      'export * from "../node/loop/a.ts";',
      'const late = await import("../node/loop/a.ts");',
      'type Loop = import("../node/loop/a.ts").Loop;',
    ];
    expect(linesFoundIn(rule, "src/base/log.ts", ...lines)).toEqual([1, 2, 3, 4, 5]);
  });

  it("asks for the rank of a new folder", () => {
    expect(findIn(rule, { "src/node/eviction/rank.ts": "" })).toEqual(["src/node/eviction/rank.ts:1"]);
  });
});

describe("cycles", () => {
  it("finds one that goes through several files and through types, once", () => {
    const files = {
      "src/a.ts": 'import { b } from "./b.ts";',
      "src/b.ts": '// b\nimport type { C } from "./c.ts";',
      "src/c.ts": 'export * from "./a.ts";',
      "src/entry.ts": 'import "./c.ts";\nimport "./b.ts";',
    };
    expect(cycles.check(treeOf(files))).toEqual([
      { file: "src/a.ts", line: 1, message: "import cycle: src/a.ts -> src/b.ts -> src/c.ts -> src/a.ts" },
    ]);
  });

  it("does not take two ways to one file for a cycle", () => {
    const files = {
      "src/a.ts": 'import "./b.ts";\nimport "./c.ts";',
      "src/b.ts": 'import "./c.ts";',
      "src/c.ts": "",
    };
    expect(findIn(cycles, files)).toEqual([]);
  });
});

describe("outside-world", () => {
  const rule = createOutsideWorldRule(LAYERS);

  it.each([
    'import { readFile } from "node:fs/promises";',
    'import { connect, isIP } from "node:net";',
    'import "node:fs";',
    'import { randomUUID } from "node:crypto";',
    'import * as crypto from "node:crypto";',
    'import { credentials } from "@grpc/grpc-js";',
    "const now = Date.now();",
    "const now = new Date();",
    "const x = Math.random();",
    "setTimeout(() => undefined, 5);",
    "const stop = AbortSignal.timeout(5);",
    "console.log(1);",
    'const home = process.env["HOME"];',
    "const clock = { now: performance.now };",
    'await fetch("http://localhost");',
    "globalThis.setTimeout(() => undefined, 5);",
  ])("keeps a pure folder from: %s", (line) => {
    expect(linesFoundIn(rule, "src/node/loop/a.ts", line)).toEqual([1]);
    expect(linesFoundIn(rule, "src/host/create-host.ts", line)).toEqual([]);
    expect(linesFoundIn(rule, "scripts/bundle.ts", line)).toEqual([]);
  });

  it.each([
    'import { createHash } from "node:crypto";',
    'import { posix } from "node:path";',
    'import { isIP } from "node:net";',
    'import { parse } from "yaml";',
    "const at = new Date(ms).toISOString();",
    "const timer = clock.setTimeout(5);",
    "interface Timers { setTimeout(ms: number): void }",
    "for (const process of processes) process.stop();",
    "const text = 'process.env';",
  ])("has nothing against: %s", (line) => {
    expect(linesFoundIn(rule, "src/node/loop/a.ts", line)).toEqual([]);
  });

  it("lets a unit test read files, and not sleep", () => {
    const lines = ['import { readFileSync } from "node:fs";', "await new Promise((r) => setTimeout(r, 5));"];
    expect(linesFoundIn(rule, "src/node/loop/a.test.ts", ...lines)).toEqual([2]);
  });
});

describe("unused-exports", () => {
  it("finds what no other file imports", () => {
    const files = {
      "src/a.ts": "export const used = 1;\nexport function idle() {}\nexport const self = used;\nself;",
      "src/b.ts": 'import { used as renamed } from "./a.ts";',
    };
    expect(findIn(unusedExports, files)).toEqual(["src/a.ts:2", "src/a.ts:3"]);
  });

  it("finds a type that only its own file speaks of", () => {
    const files = {
      "src/a.ts": "export interface Options {}\nexport function create(options: Options) {}",
      "test/a.test.ts": 'import { create } from "../src/a.ts";',
    };
    expect(findIn(unusedExports, files)).toEqual(["src/a.ts:1"]);
  });

  it("takes a namespace, a re-export of all and a late import as a use of everything", () => {
    const exporting = "export const x = 1;";
    const files = {
      "src/a.ts": exporting,
      "src/b.ts": exporting,
      "src/c.ts": exporting,
      "src/d.ts": 'import * as a from "./a.ts";\nexport * from "./b.ts";\nawait import("./c.ts");',
    };
    expect(findIn(unusedExports, files)).toEqual([]);
  });

  it("wants a re-export to be imported as well", () => {
    const files = { "src/a.ts": "export const x = 1;", "src/b.ts": 'export { x } from "./a.ts";' };
    expect(findIn(unusedExports, files)).toEqual(["src/b.ts:1"]);
  });

  it("does not ask it of an entry point", () => {
    expect(findIn(unusedExports, { "src/cli/main.ts": "export const x = 1;" })).toEqual([]);
  });
});

describe("one-name", () => {
  it("finds a name that two files of the product define, at the second of them", () => {
    const files = {
      "src/api/pods.ts": "export interface PodReference {}\nexport const A = 1;",
      "src/node/pods.ts": "const A = 1;\nexport type PodReference = string;",
      "src/node/run.ts": "export class PodReference {}",
    };
    expect(findIn(oneName, files)).toEqual(["src/node/pods.ts:2", "src/node/run.ts:1"]);
  });

  it("lets names be passed on, and repeated by fakes, fixtures and tests", () => {
    const files = {
      "src/api/pods.ts": "export const pod = 1;",
      "src/testing/index.ts": 'export { pod } from "../api/pods.ts";',
      "src/host/fake/pods.ts": "export const pod = 1;",
      "src/node/__fixtures__/pods.ts": "export const pod = 1;",
      "test/sim/pods.ts": "export const pod = 1;",
    };
    expect(findIn(oneName, files)).toEqual([]);
  });
});
