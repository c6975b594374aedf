import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Linter } from "eslint";
import tseslint from "typescript-eslint";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

// It is JavaScript, because ESLint reads its configuration so; it has no types that an import could check.
const { noVoidPromise } = await import(new URL("lint-rules.mjs", import.meta.url).href);

const DECLARED = `
declare function serve(): Promise<void>;
declare function maybe(): Promise<void> | undefined;
declare function count(): number;
declare function on(listener: () => void): void;
declare function runInBackground(work: () => Promise<unknown>, onFailure: (error: unknown) => void): void;
`;

describe("a promise that nobody waits for", () => {
  let directory = "";
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), "lint-"));
    await writeFile(join(directory, "tsconfig.json"), JSON.stringify({ compilerOptions: { target: "ES2023" } }));
  });
  afterAll(async () => await rm(directory, { recursive: true }));

  it.each([
    ["behind `void`", "void serve();", 1],
    ["behind `void` in an arrow function", "on(() => void serve());", 1],
    ["behind `void`, if there is one", "on(() => void maybe());", 1],
    ["behind `void`, with a catch", "void serve().catch(() => undefined);", 1],
    ["that the helper starts", "runInBackground(serve, () => undefined);", 0],
    ["that is none", "on(() => void count());", 0],
  ])("%s", (_what, code, expected) => {
    const linter = new Linter({ cwd: directory });
    const parserOptions = { projectService: { allowDefaultProject: ["*.ts"] }, tsconfigRootDir: directory };
    const found = linter.verify(
      `${DECLARED}${code}\n`,
      {
        files: ["**/*.ts"],
        languageOptions: { parser: tseslint.parser, parserOptions },
        plugins: { own: { rules: { "no-void-promise": noVoidPromise } } },
        rules: { "own/no-void-promise": "error" },
      },
      { filename: join(directory, "case.ts") },
    );
    expect(found.map(({ ruleId, message }) => ruleId ?? message)).toEqual(Array(expected).fill("own/no-void-promise"));
  });
});
