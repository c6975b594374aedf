import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { createSeededRandom } from "../../src/base/random.ts";
import { chooseRanges } from "./choose-ranges.ts";

/**
 * tsx test/mutation/main.ts PATH... [--tests PATTERN]... [--sample N] [--seed S]
 *
 * Changes one operator, condition or value of PATH (files and folders of `src`) at a time, and looks each time whether a
 * test notices. What no test noticed is printed with its place. Exits with 1 below 95 %.
 *
 * The tests are those of the rooms of PATH (`src/node/pods` for `src/node/pods/pleg/pleg.ts`) and those of `--tests`.
 * With `--sample`, only N places of a few lines each are changed, chosen by the seed: a whole room takes an hour.
 */
const ROOT = join(import.meta.dirname, "../..");
const WANTED_PERCENT = 95;
/** A test that takes this much longer with a change than without it counts as one that noticed. */
const TIMEOUT_MS = 20_000;
const TEST_TIMEOUT_MS = 60_000;

const { values, positionals } = readArguments();
const seed = Number(values.seed ?? Math.floor(Math.random() * 1_000_000));
const files = [...new Set(positionals.flatMap(listSources))];
if (files.length === 0) fail(`no source file is in ${positionals.join(", ") || "PATH, which is missing"}`);
installTester();
process.exitCode = runTester();

function readArguments() {
  try {
    const options = {
      tests: { type: "string", multiple: true },
      sample: { type: "string" },
      seed: { type: "string" },
    } as const;
    return parseArgs({ options, allowPositionals: true });
  } catch (error) {
    return fail(error instanceof Error ? error.message : String(error));
  }
}

function listSources(path: string): string[] {
  if (!existsSync(join(ROOT, path))) fail(`there is no ${path}`);
  const all = statSync(join(ROOT, path)).isDirectory()
    ? readdirSync(join(ROOT, path), { recursive: true, encoding: "utf8" }).map((name) => join(path, name))
    : [path];
  return all
    .filter((file) => file.endsWith(".ts") && !/\.test\.ts$|__fixtures__|\/gen\/|\/fake\//.test(file))
    .toSorted();
}

/** The tester has packages of its own: only this command needs its 160. */
function installTester(): void {
  if (existsSync(join(import.meta.dirname, "node_modules/.package-lock.json"))) return;
  const { status } = spawnSync("npm", ["ci", "--legacy-peer-deps", "--ignore-scripts"], {
    cwd: import.meta.dirname,
    stdio: "inherit",
  });
  if (status !== 0) fail("the mutation tester could not be installed; see above");
}

function runTester(): number {
  const work = mkdtempSync(join(tmpdir(), "nodelet-mutation-"));
  try {
    const config = join(work, "stryker.config.json");
    writeFileSync(config, JSON.stringify(configure(work)));
    console.log(`${files.length} files, seed ${seed}`);
    const program = join(import.meta.dirname, "node_modules/@stryker-mutator/core/bin/stryker.js");
    const { status } = spawnSync(process.execPath, [program, "run", config], { cwd: ROOT, stdio: "inherit" });
    return status === 0 ? 0 : 1;
  } finally {
    rmSync(work, { recursive: true });
  }
}

function configure(work: string) {
  const count = values.sample === undefined ? undefined : Number(values.sample);
  if (count !== undefined && !(Number.isInteger(count) && count > 0)) fail("--sample takes a whole number above 0");
  const read = (file: string) => readFileSync(join(ROOT, file), "utf8");
  return {
    testRunner: "vitest",
    plugins: [import.meta.resolve("./node_modules/@stryker-mutator/vitest-runner/dist/src/index.js")],
    // The patterns of this file alone decide which tests run.
    vitest: { configFile: writeTestConfig(work), related: false },
    mutate: count === undefined ? files : chooseRanges(files, { read, count, random: createSeededRandom(seed) }),
    coverageAnalysis: "perTest",
    reporters: ["clear-text"],
    clearTextReporter: { allowColor: false, reportTests: false },
    thresholds: { high: 100, low: WANTED_PERCENT, break: WANTED_PERCENT },
    timeoutMS: TIMEOUT_MS,
    tempDirName: join(work, "copies"),
    ignorePatterns: ["bench", "dist", "docs", "examples", "test/e2e", "test/sim"],
  };
}

function writeTestConfig(work: string): string {
  const file = join(work, "vitest.config.mjs");
  const test = { include: listTests(), pool: "threads", testTimeout: TEST_TIMEOUT_MS };
  writeFileSync(file, `export default ${JSON.stringify({ test })};\n`);
  return file;
}

function listTests(): string[] {
  const rooms = files.map((file) =>
    file
      .split("/")
      .slice(0, file.split("/").length > 3 ? 3 : 2)
      .join("/"),
  );
  return [...[...new Set(rooms)].map((room) => `${room}/**/*.test.ts`), ...(values.tests ?? [])];
}

function fail(message: string): never {
  console.error(`npm run mutate -- PATH...: ${message}`);
  process.exit(2);
}
