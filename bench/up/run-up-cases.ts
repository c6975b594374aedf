import { attempt } from "../attempt.ts";
import { type CaseRun, type CaseRuns, NO_RUNS, type RunOptions, type RunTools } from "../case-run.ts";
import { inTurn } from "../in-turn.ts";
import type { UpCaseName } from "../options.ts";
import { upDeployment } from "./deployment.ts";
import { upDns } from "./dns.ts";
import { upEndpoints } from "./endpoints.ts";
import { upIdle } from "./idle.ts";
import type { UpCase } from "./up-case.ts";
import { createUpWorld } from "./up-world.ts";

const CASES: Readonly<Record<UpCaseName, UpCase>> = {
  "up-deployment": upDeployment,
  "up-idle": upIdle,
  "up-dns": upDns,
  "up-endpoints": upEndpoints,
};

/** The cases of a whole cluster, each on one of its own. */
export async function runUpCases(
  options: RunOptions & { upCases: readonly UpCaseName[] },
  tools: RunTools,
): Promise<CaseRuns> {
  if (options.upCases.length === 0) return NO_RUNS;
  const runs: CaseRun[] = [];
  for (const name of options.upCases) {
    const run = async (limited: RunTools) => await runRounds(name, options, limited);
    runs.push(...((await attempt(name, tools, run)) ?? []));
  }
  return { runs, runtimes: [] };
}

async function runRounds(
  name: UpCaseName,
  { builds, rounds, sizes }: RunOptions,
  { signal, progress }: RunTools,
): Promise<CaseRun[]> {
  const runs: CaseRun[] = [];
  for (let round = 0; round < rounds; round++) {
    for (const [, build] of inTurn(builds, round)) {
      progress(`${name}: starting the cluster`);
      const world = await createUpWorld(build);
      try {
        const say = (text: string) => progress(`${name}: ${text}`);
        runs.push({ build: build.name, measures: await CASES[name]({ world, sizes, signal, progress: say }) });
      } finally {
        progress(`${name}: removing what was made`);
        await world.destroy();
      }
    }
  }
  return runs;
}
