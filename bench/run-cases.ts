import type { CaseRun, RunOptions, RunTools } from "./case-run.ts";
import { runNodeCases } from "./cases/run-node-cases.ts";
import { type Circumstances, watchMachine } from "./circumstances.ts";
import { runClusterCases } from "./cluster/run-cluster-cases.ts";
import { runApiCases } from "./control-plane/run-api-cases.ts";
import type { ChosenCases } from "./options.ts";
import { runUpCases } from "./up/run-up-cases.ts";

/** Runs the cases. Everything that was made is removed, whatever happens. */
export async function runCases(
  options: RunOptions & ChosenCases,
  tools: RunTools,
): Promise<{ runs: readonly CaseRun[]; circumstances: Circumstances }> {
  const machine = watchMachine();
  const runs: CaseRun[] = [];
  const runtimes: string[] = [];
  try {
    for (const run of [runNodeCases, runClusterCases, runApiCases, runUpCases]) {
      const result = await run(options, tools);
      runs.push(...result.runs);
      runtimes.push(...result.runtimes);
    }
    return { runs, circumstances: machine.describe([...new Set(runtimes)]) };
  } finally {
    tools.progress("");
    machine.stop();
  }
}
