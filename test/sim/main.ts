import { fork } from "node:child_process";
import { setMaxListeners } from "node:events";
import { availableParallelism } from "node:os";
import { readCommandOptions, readWholeNumber, refuseOption } from "../command-options.ts";
import { runControlPlaneSeed } from "./control-plane/run.ts";
import { CONTROL_PLANE_SEEDS } from "./control-plane/seeds.ts";
import { readFirstSeed } from "./fresh-seeds.ts";
import { createReport } from "./report.ts";
import { type RunResult, runSeed, type SuiteName } from "./run.ts";
import { REGRESSION_SEEDS } from "./seeds.ts";

const USAGE = `npm run sim -- --seed S [--verbose]        one seed; with its whole trace
npm run sim -- --seeds N [--first K]       N seeds from K (default: from the commit), after those that once found a bug

Each seed is run twice, unless --only node or --only "control plane" names one of the two programs: once with the
node agent, and once with the control plane and its workloads. --seed is of the node agent where it names none.`;

/** Every so many seeds one is run twice, to prove that a seed decides everything. */
const REPEAT_EVERY = 25;
/**
 * A seed that turns in circles without a timer would never end. One takes a second or two, and minutes beside the other
 * suites, which go before the simulator.
 */
const HANG_MS = 600_000;
const MOST_PROCESSES = 4;

const SUITES: Readonly<Record<SuiteName, Suite>> = {
  node: { run: runSeed, kept: REGRESSION_SEEDS.map(([seed]) => seed) },
  "control plane": { run: runControlPlaneSeed, kept: CONTROL_PLANE_SEEDS.map(([seed]) => seed) },
};

interface Suite {
  run(seed: number, onLine?: (line: string) => void): Promise<RunResult>;
  /** Those that once found a bug. */
  readonly kept: readonly number[];
}

const values = readCommandOptions(USAGE, {
  ...{ seed: { type: "string" }, seeds: { type: "string", default: "300" }, first: { type: "string" } },
  ...{ only: { type: "string" }, verbose: { type: "boolean", default: false } },
  // For its own processes.
  ...{ part: { type: "string" }, step: { type: "string", default: "1" } },
});
const only = readSuite(values.only);
const seeds = readWholeNumber("seeds", values.seeds);
const firstSeed = values.first === undefined ? undefined : readWholeNumber("first", values.first);
if (values.part !== undefined)
  await runPart(readWholeNumber("part", values.part), readWholeNumber("step", values.step, 1));
else if (values.seed !== undefined) await replay(readWholeNumber("seed", values.seed));
else await runMany(seeds, firstSeed);

async function replay(seed: number): Promise<void> {
  setMaxListeners(0);
  const report = createReport();
  const { run } = SUITES[only ?? "node"];
  report.add(await run(seed, values.verbose ? (line) => console.log(line) : undefined));
  report.end();
}

/** Shares the seeds among processes; each takes every so many of them. */
async function runMany(count: number, asked: number | undefined): Promise<void> {
  const { first, reason } =
    asked === undefined ? readFirstSeed(import.meta.dirname) : { first: asked, reason: "as asked" };
  const kept = suitesToRun().flatMap((suite) => SUITES[suite].kept).length;
  console.log(`Seeds ${first} to ${first + count - 1} (${reason}), after ${kept} that once found a bug.`);
  if (asked === undefined) console.log(`The same again: npm run sim -- --seeds ${count} --first ${first}`);
  const report = createReport();
  const processes = Math.max(1, Math.min(MOST_PROCESSES, availableParallelism(), count));
  const parts = Array.from({ length: processes }, (_, part) => runChild({ count, first, part, processes }, report.add));
  await Promise.all(parts);
  report.end();
}

interface Part {
  count: number;
  first: number;
  part: number;
  processes: number;
}

async function runChild({ count, first, part, processes }: Part, onResult: (result: RunResult) => void): Promise<void> {
  const numbers = { "--part": part, "--step": processes, "--seeds": count, "--first": first };
  const words = [...Object.entries(numbers).flat().map(String), ...(only === undefined ? [] : ["--only", only])];
  const child = fork(import.meta.filename, words, { execArgv: process.execArgv });
  let at = "its start";
  const watch = () =>
    setTimeout(() => {
      console.error(`Nothing came of seed ${at} for ${HANG_MS / 1000} s, given up`);
      child.kill("SIGKILL");
    }, HANG_MS);
  let timer = watch();
  child.on("message", (message: RunResult | { next: string }) => {
    clearTimeout(timer);
    timer = watch();
    if ("next" in message) at = message.next;
    else onResult(message);
  });
  const code = await new Promise<number | null>((resolve) => child.once("exit", resolve));
  clearTimeout(timer);
  if (code === 0) return;
  console.error(`A process of the simulator ended with ${code} at seed ${at}`);
  process.exitCode = 1;
}

async function runPart(part: number, step: number): Promise<void> {
  setMaxListeners(0);
  const fresh = Array.from({ length: seeds }, (_, index) => (firstSeed ?? 1) + index);
  const runs = suitesToRun().flatMap((suite) => [...SUITES[suite].kept, ...fresh].map((seed) => ({ suite, seed })));
  for (const [index, { suite, seed }] of runs.entries()) {
    if (index % step !== part) continue;
    process.send?.({ next: `${seed} of the ${suite}` });
    const result = await SUITES[suite].run(seed);
    const isRepeated = seed % REPEAT_EVERY === 0 && result.failure === undefined;
    process.send?.(isRepeated ? await compareWithRepetition(result) : result);
  }
  process.disconnect();
}

async function compareWithRepetition(result: RunResult): Promise<RunResult> {
  const again = await SUITES[result.suite].run(result.seed);
  if (again.traceHash === result.traceHash) return result;
  const message = `its trace has the hash ${result.traceHash} at first, then ${again.traceHash}`;
  return { ...result, failure: { invariant: "a seed decides everything", message } };
}

function suitesToRun(): readonly SuiteName[] {
  return only === undefined ? ["node", "control plane"] : [only];
}

function readSuite(name: string | undefined): SuiteName | undefined {
  if (name === undefined || name === "node" || name === "control plane") return name;
  return refuseOption(`--only takes node or "control plane", not "${name}"`);
}
