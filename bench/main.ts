import { isAbort } from "../src/base/abort.ts";
import { messageOf } from "../src/base/errors.ts";
import { buildOf } from "./build.ts";
import { readChangedPaths } from "./compare/base-build.ts";
import { compareBuilds } from "./compare/compare-builds.ts";
import { findTouchedCases } from "./compare/touched-cases.ts";
import { formatJson, formatTable } from "./format-run.ts";
import { type BenchOptions, chooseCases, parseOptions, USAGE } from "./options.ts";
import { createProgress } from "./progress.ts";
import { renderReport, writeReport } from "./report/write-report.ts";
import { runCases } from "./run-cases.ts";

process.exitCode = await main(process.argv.slice(2));

/** The exit code: 0 for a run that ended, whether or not it reached its targets; 1 for one that failed; 130 after Ctrl-C. */
async function main(argv: readonly string[]): Promise<number> {
  const interrupted = new AbortController();
  const interrupt = () => interrupted.abort();
  let failure = 1;
  try {
    const options = parseOptions(argv);
    if (options === undefined) {
      console.log(USAGE);
      return 0;
    }
    if (options.compare?.touched) failure = 0;
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
    return failure;
  } finally {
    for (const name of ["SIGINT", "SIGTERM"] as const) process.off(name, interrupt);
  }
}

/** Runs the cases and returns what is to be printed. */
async function run(options: BenchOptions, signal: AbortSignal): Promise<string> {
  if (options.report === "render") return await renderReport();
  const tools = { signal, progress: createProgress() };
  if (options.compare !== undefined) {
    const { base, touched } = options.compare;
    if (!touched) return await compareBuilds(base, options, tools);
    const names = findTouchedCases(await readChangedPaths(base, signal));
    if (names.length === 0) return `nothing that a case measures was changed since ${base}`;
    return await compareBuilds(base, { ...options, ...chooseCases(names) }, tools);
  }
  const failures: string[] = [];
  const onFailure = (message: string) => void failures.push(message);
  const ran = await runCases(
    { ...options, builds: [buildOf(options.program)] },
    options.report === "run" ? { ...tools, onFailure } : tools,
  );
  const measures = ran.runs.flatMap((of) => of.measures);
  if (options.report === undefined) return (options.json ? formatJson : formatTable)(measures, ran.circumstances);
  const circumstances = {
    ...ran.circumstances,
    ...(options.isQuick && { isQuick: true as const }),
    ...(failures.length > 0 && { failures: failures.map((failure) => failure.split("\n", 1).join("")) }),
  };
  const written = await writeReport({ circumstances, measures });
  if (failures.length > 0) throw new Error(`wrote\n${written}\nwithout what failed:\n${failures.join("\n")}`);
  return written;
}
