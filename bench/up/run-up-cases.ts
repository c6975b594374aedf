import { attempt } from "../attempt.ts";
import type { Build } from "../build.ts";
import { type CaseRun, type CaseRuns, NO_RUNS, type RunOptions, type RunTools } from "../case-run.ts";
import { inTurn } from "../in-turn.ts";
import type { Measure } from "../measure.ts";
import type { UpCaseName } from "../options.ts";
import type { Sizes } from "../sizes.ts";
import { upDeployment } from "./deployment.ts";
import { upDns } from "./dns.ts";
import { upEndpoints } from "./endpoints.ts";
import { upIdle } from "./idle.ts";
import { putBeside } from "./put-beside.ts";
import { findStandIns, nameMissing, type StandIn } from "./stand-ins/stand-in.ts";
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
  return { runs, runtimes: options.builds.length > 1 ? [] : nameMissing(options.upCases, process.env) };
}

async function runRounds(name: UpCaseName, options: RunOptions, tools: RunTools): Promise<CaseRun[]> {
  const { builds, rounds } = options;
  const runs: CaseRun[] = [];
  for (let round = 0; round < rounds; round++) {
    for (const [, build] of inTurn(builds, round)) {
      runs.push({ build: build.name, measures: await measure(name, { ...options, build, standIns: [] }, tools) });
    }
  }
  const [run, ...others] = runs;
  const standIns = findStandIns(name, process.env);
  if (run === undefined || others.length > 0 || standIns.length === 0) return runs;
  const theirs = await measure(name, { ...options, build: builds[0], standIns }, tools);
  return [{ ...run, measures: putBeside(run.measures, standIns, theirs) }];
}

async function measure(
  name: UpCaseName,
  { build, standIns, sizes }: { build: Build; standIns: readonly StandIn[]; sizes: Sizes },
  { signal, progress }: RunTools,
): Promise<Measure[]> {
  const whose = standIns.map((standIn) => `${standIn.name}, `).join("");
  const say = (text: string) => progress(`${name}: ${whose}${text}`);
  say("starting the cluster");
  const world = await createUpWorld(build, standIns, signal);
  try {
    return await CASES[name]({ world, sizes, signal, progress: say });
  } finally {
    say("removing what was made");
    await world.destroy();
  }
}
