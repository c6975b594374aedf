import { readFile } from "node:fs/promises";
import { cpus } from "node:os";
import { isAbort } from "../src/base/abort.ts";
import { messageOf } from "../src/base/errors.ts";
import { type Agent, startAgent } from "./agent.ts";
import { backOff } from "./cases/back-off.ts";
import { burst } from "./cases/burst.ts";
import type { Case } from "./cases/case.ts";
import { exit } from "./cases/exit.ts";
import { idle } from "./cases/idle.ts";
import { ready } from "./cases/ready.ts";
import { single } from "./cases/single.ts";
import { runClusterCases } from "./cluster/run-cluster-cases.ts";
import { runApiCases } from "./control-plane/run-api-cases.ts";
import { createFloor } from "./floor.ts";
import type { Measure } from "./measure.ts";
import { type BenchOptions, type NodeCaseName, parseOptions, USAGE } from "./options.ts";
import { formatJson, formatTable } from "./report.ts";
import { createWorld } from "./world.ts";

const CASES: Readonly<Record<NodeCaseName, Case>> = { single, burst, exit, "back-off": backOff, idle, ready };

const LOG_TAIL_CHARACTERS = 4_000;

process.exitCode = await main(process.argv.slice(2));

/** The exit code: 0 for a run that ended, whether or not it reached its targets; 1 for one that failed; 130 after Ctrl-C. */
async function main(argv: readonly string[]): Promise<number> {
  const interrupted = new AbortController();
  const interrupt = () => interrupted.abort();
  try {
    const options = parseOptions(argv);
    if (options === undefined) {
      console.log(USAGE);
      return 0;
    }
    // Stays in force to the end: a second Ctrl-C must not leave pods behind.
    for (const name of ["SIGINT", "SIGTERM"] as const) process.on(name, interrupt);
    console.log(await run(options, interrupted.signal));
    return 0;
  } catch (error) {
    if (interrupted.signal.aborted) {
      if (!isAbort(error)) console.error(`bench: ${messageOf(error)}`);
      return 130;
    }
    console.error(`bench: ${messageOf(error)}`);
    return 1;
  } finally {
    for (const name of ["SIGINT", "SIGTERM"] as const) process.off(name, interrupt);
  }
}

/** Runs the cases and returns the report. Everything that was made is removed. */
async function run(options: BenchOptions, signal: AbortSignal): Promise<string> {
  const measures: Measure[] = [];
  const runtimes: string[] = [];
  try {
    for (const run of [runNodeCases, runClusterCases, runApiCases]) {
      const result = await run(options, { signal, progress });
      measures.push(...result.measures);
      runtimes.push(...result.runtimes);
    }
  } finally {
    progress("");
  }
  const circumstances = { runtime: runtimes.join(", "), node: process.versions.node, cpus: cpus().length };
  return (options.json ? formatJson : formatTable)(measures, circumstances);
}

/** On a containerd of their own. */
async function runNodeCases(
  options: BenchOptions,
  { signal, progress }: { signal: AbortSignal; progress(text: string): void },
): Promise<{ measures: readonly Measure[]; runtimes: readonly string[] }> {
  if (options.nodeCases.length === 0) return { measures: [], runtimes: [] };
  progress("starting containerd");
  const world = await createWorld(options.program);
  try {
    const floor = await createFloor(world);
    const measures: Measure[] = [];
    for (const name of options.nodeCases) {
      let agent: Agent = await startAgent(world, signal);
      const restartAgent = async () => {
        await agent.stop();
        agent = await startAgent(world, signal);
        return agent;
      };
      const say = (text: string) => progress(`${name}: ${text}`);
      try {
        const context = { world, floor, agent, restartAgent, sizes: options.sizes, signal, progress: say };
        measures.push(...(await CASES[name](context)));
      } catch (error) {
        signal.throwIfAborted();
        const log = (await readFile(world.agentLog, "utf8")).slice(-LOG_TAIL_CHARACTERS);
        throw new Error(`${name}: ${messageOf(error)}\nThe node agent said:\n${log}`, { cause: error });
      } finally {
        await agent.stop();
      }
    }
    return { measures, runtimes: [`containerd ${world.containerd.version}`] };
  } finally {
    progress("removing what was made");
    await world.destroy();
  }
}

/** One line that overwrites itself, on a terminal only; the report goes to the standard output. */
function progress(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\u001b[K${text}`);
}
