import { createHash } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { readCommandOptions, refuseOption } from "../command-options.ts";
import { readFirstSeed } from "../sim/fresh-seeds.ts";
import { keepInputs } from "./corpus.ts";
import type { FuzzResult } from "./fuzz-target.ts";
import { TARGET_NAMES } from "./targets/all.ts";
import { type ChildOutcome, watchChild } from "./watch-child.ts";

const USAGE = `npm run fuzz -- [--minutes N] [--target NAME …] [--seed S] [--runs N] [--processes N]   the corpus, then fresh inputs
  --fixed makes a fixed number for each target, and so the same ones on each machine
  --keep adds the inputs that reached something new to the corpus
npm run fuzz -- --target NAME --input FILE                                              one input

The minutes (default 1) are those of the whole command, shared by the targets. The seed (default: that of the commit)
decides which inputs are made, and time how many, unless --runs or --fixed does. Exits with 1 when something was found;
the inputs are kept in a directory of their own then.`;

const values = readCommandOptions(USAGE, {
  ...{ minutes: { type: "string", default: "1" }, seed: { type: "string" }, runs: { type: "string" } },
  ...{ target: { type: "string", multiple: true }, input: { type: "string" }, processes: { type: "string" } },
  ...{ keep: { type: "boolean", default: false }, fixed: { type: "boolean", default: false } },
});
const MOST_PROCESSES = 4;
/** The corpus is for reading, too. */
const MOST_KEPT_BYTES = 2_048;
/** Loading the sources takes a process about so long, on a machine that has nothing else to do. */
const START_MS = 2_000;

const names = values.target ?? TARGET_NAMES;
const unknown = names.find((name) => !TARGET_NAMES.includes(name));
if (unknown !== undefined) refuseOption(`There is no target ${unknown}; there are ${TARGET_NAMES.join(", ")}.`);
if (values.input !== undefined && names.length !== 1) refuseOption("--input needs one --target.");
const minutes = readNumber("minutes", values.minutes);
const seed = values.seed === undefined ? readFirstSeed(import.meta.dirname).first : readNumber("seed", values.seed);
if (values.fixed && values.runs !== undefined) refuseOption("--fixed and --runs exclude each other.");
const runs = values.fixed ? "fixed" : values.runs === undefined ? undefined : readNumber("runs", values.runs);

const work = mkdtempSync(join(tmpdir(), "nodelet-fuzz-"));
const processes = values.processes === undefined ? availableParallelism() : readNumber("processes", values.processes);
const lanes = Math.max(1, Math.min(MOST_PROCESSES, processes, names.length));
const forMs = Math.max(0, (minutes * 60_000 * lanes) / names.length - START_MS);
const amount = runs === undefined ? `${(forMs / 1000).toFixed(1)} s` : `${values.runs ?? "a fixed number of"} inputs`;
console.log(`seed ${seed}, ${names.length} targets in ${lanes} processes, ${amount} each`);
const startedAt = performance.now();
let found = 0;
let executions = 0;
const waiting = [...names];
await Promise.all(Array.from({ length: lanes }, runLane));
const seconds = ((performance.now() - startedAt) / 1000).toFixed(0);
console.log(`${executions} inputs to ${names.length} targets in ${seconds} s, seed ${seed}: ${found} found`);
if (found === 0) rmSync(work, { recursive: true });
process.exit(found === 0 ? 0 : 1);

async function runLane(): Promise<void> {
  for (let target = waiting.shift(); target !== undefined; target = waiting.shift()) {
    const currentFile = join(work, `${target}-current`);
    const outcome = await watchChild({ target, seed, forMs, runs, currentFile, inputFile: values.input });
    tell(target, outcome);
    rmSync(currentFile, { force: true });
  }
}

function tell(target: string, { result, findings }: ChildOutcome): void {
  if (result !== undefined) console.log(`  ${target.padEnd(22)} ${formatResult(result)}`);
  if (values.keep && result !== undefined)
    keepInputs(
      target,
      result.reached.filter(({ length }) => length <= MOST_KEPT_BYTES),
    );
  executions += (result?.runs ?? 0) + (result?.corpus ?? 0);
  for (const { verdict, input } of findings) {
    found++;
    const hash = createHash("sha256").update(input).digest("hex").slice(0, 12);
    const path = join(work, `${target}-${verdict.kind}-${hash}`);
    writeFileSync(path, input);
    const lines = [
      `FOUND ${verdict.kind} in ${target}, by ${input.length} bytes: ${verdict.message}`,
      `  input:  ${JSON.stringify(input.subarray(0, 300).toString("latin1"))}`,
      `  replay: npm run fuzz -- --target ${target} --input ${path}`,
    ];
    console.log(lines.join("\n"));
  }
}

function formatResult({ runs, corpus, reached, functions, slowestMs, memory }: FuzzResult): string {
  const growth = memory.before === 0 ? "-" : `${((memory.after / memory.before - 1) * 100).toFixed(1)} %`;
  const parts = [
    `${corpus} kept and ${runs} fresh inputs`,
    `${reached.length} reached something new (${functions} functions)`,
    `slowest ${slowestMs.toFixed(0)} ms`,
    `memory ${growth}`,
  ];
  return parts.join(", ");
}

function readNumber(name: string, text: string): number {
  const value = Number(text);
  if (!Number.isFinite(value) || value < 0) refuseOption(`--${name} takes a number, not ${text}.`);
  return value;
}
