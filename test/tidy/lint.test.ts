import { execFile } from "node:child_process";
import { copyFile, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const ROOT = join(import.meta.dirname, "../..");
const CONFIGURATION = ".oxlintrc.json";

const DECLARED = `
declare function serve(): Promise<void>;
declare function maybe(): Promise<void> | undefined;
declare function count(): number;
declare function on(listener: () => void): void;
declare function runInBackground(work: () => Promise<unknown>, onFailure: (error: unknown) => void): void;
declare const kind: "pod" | "node";
`;

interface Case {
  what: string;
  code: string;
  /** The rules that must speak, each once. */
  rules: readonly string[];
}

const VOID = "eslint(no-void)";
const FLOATING = "typescript(no-floating-promises)";
const MISUSED = "typescript(no-misused-promises)";

const CASES: readonly Case[] = [
  { what: "a promise that nobody waits for", code: "serve();", rules: [FLOATING] },
  { what: "a promise behind `void`", code: "void serve();", rules: [VOID, FLOATING] },
  { what: "a promise behind `void`, with a catch", code: "void serve().catch(() => undefined);", rules: [VOID] },
  { what: "a promise behind `void` in an arrow function", code: "on(() => void serve());", rules: [VOID] },
  { what: "a promise of an arrow function", code: "on(() => serve());", rules: [MISUSED] },
  { what: "a promise of an arrow function, if there is one", code: "on(() => maybe());", rules: [MISUSED] },
  { what: "a promise that the helper starts", code: "runInBackground(serve, () => undefined);", rules: [] },
  { what: "a result of a listener that is no promise", code: "on(() => count());", rules: [] },
  { what: "an await of what is no promise", code: "await count();", rules: ["typescript(await-thenable)"] },
  {
    what: "a promise that leaves `try` unawaited",
    code: "export async function f() { try { return serve(); } catch { return; } }",
    rules: ["typescript(return-await)"],
  },
  { what: "a thrown text", code: 'throw "text";', rules: ["typescript(only-throw-error)"] },
  {
    what: "a text as a rejection",
    code: 'await Promise.reject("text");',
    rules: ["typescript(prefer-promise-reject-errors)"],
  },
  {
    what: "a switch that leaves a case out",
    code: 'switch (kind) { case "pod": count(); }',
    rules: ["typescript(switch-exhaustiveness-check)"],
  },
  {
    what: "a cast to the same type",
    code: "export const n = count() as number;",
    rules: ["typescript(no-unnecessary-type-assertion)"],
  },
];

async function lint(directory: string): Promise<readonly { code: string; filename: string }[]> {
  const oxlint = join(ROOT, "node_modules", ".bin", "oxlint");
  const output = await new Promise<string>((resolve, reject) => {
    execFile(oxlint, ["--format", "json", "."], { cwd: directory }, (error, stdout, stderr) => {
      if (stdout.startsWith("{")) resolve(stdout);
      else reject(error ?? new Error(stderr));
    });
  });
  const { diagnostics } = JSON.parse(output);
  return diagnostics;
}

describe("the lint of code of the product", () => {
  let directory = "";
  let findings: Awaited<ReturnType<typeof lint>> = [];
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), "lint-"));
    const options = { target: "es2023", module: "esnext", moduleDetection: "force", strict: true, types: [] };
    await writeFile(join(directory, "tsconfig.json"), JSON.stringify({ compilerOptions: options }));
    await copyFile(join(ROOT, CONFIGURATION), join(directory, CONFIGURATION));
    await mkdir(join(directory, "src"));
    for (const [at, { code }] of CASES.entries()) {
      await writeFile(join(directory, "src", `case-${at}.ts`), `${DECLARED}${code}\nexport {};\n`);
    }
    findings = await lint(directory);
  });
  afterAll(async () => await rm(directory, { recursive: true }));

  it.each(CASES.map((one, at) => ({ ...one, at })))("$what", ({ at, rules }) => {
    const found = findings.filter(({ filename }) => filename.endsWith(`src/case-${at}.ts`));
    expect(found.map(({ code }) => code).toSorted()).toEqual([...rules].toSorted());
  });
});
