import { mkdtemp, rm, statfs } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { attempt } from "../attempt.ts";
import { type CaseRun, type CaseRuns, NO_RUNS, type RunOptions, type RunTools } from "../case-run.ts";
import { growNodes } from "../growth/nodes.ts";
import { growObjects } from "../growth/objects.ts";
import { growWatchers } from "../growth/watchers.ts";
import { inTurn } from "../in-turn.ts";
import type { ApiCaseName } from "../options.ts";
import type { ApiCase } from "./api-case.ts";
import type { ApiProgram } from "./api-server.ts";
import { apiCreate } from "./create.ts";
import { apiFair } from "./fair.ts";
import { kubeApiserverProgram } from "./kube-apiserver.ts";
import { apiList } from "./list.ts";
import { apiMemory } from "./memory.ts";
import { nodeletProgram } from "./nodelet.ts";
import { apiReady } from "./ready.ts";
import { apiWatch } from "./watch.ts";

const CASES: Readonly<Record<ApiCaseName, ApiCase>> = {
  "api-ready": apiReady,
  "api-create": apiCreate,
  "api-watch": apiWatch,
  "api-list": apiList,
  "api-memory": apiMemory,
  "api-fair": apiFair,
  "grow-objects": growObjects,
  "grow-watchers": growWatchers,
  "grow-nodes": growNodes,
};

/** What `statfs` calls a file system that is in memory only. */
const TMPFS = 0x0102_1994;

/** The cases of the control plane, each on servers of its own. */
export async function runApiCases(
  options: RunOptions & { apiCases: readonly ApiCaseName[] },
  tools: RunTools,
): Promise<CaseRuns> {
  if (options.apiCases.length === 0) return NO_RUNS;
  const directory = await mkdtemp(join(tmpdir(), "nodelet-bench-"));
  const runs: CaseRun[] = [];
  try {
    for (const name of options.apiCases) {
      const run = async (limited: RunTools) => await runRounds(name, { ...options, directory, tools: limited });
      runs.push(...((await attempt(name, tools, run)) ?? []));
    }
    const isAlone = options.builds.length === 1 && findUpstream().length === 0;
    const others = isAlone ? ["no kube-apiserver beside it, for KUBEBUILDER_ASSETS is not set"] : [];
    return { runs, runtimes: [await describeDisk(directory), ...others] };
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** One build beside upstream's, or two builds one after the other, round by round. */
async function runRounds(
  name: ApiCaseName,
  { builds, rounds, sizes, directory, tools }: RunOptions & { directory: string; tools: RunTools },
): Promise<CaseRun[]> {
  const { signal, progress } = tools;
  const runs: CaseRun[] = [];
  for (let round = 0; round < rounds; round++) {
    for (const [, build] of inTurn(builds, round)) {
      const turn = builds.length > 1 ? `turn ${round + 1} of ${rounds}, ` : "";
      const context = {
        programs: [nodeletProgram(build), ...(builds.length === 1 ? findUpstream() : [])],
        makeDirectory: async () => await mkdtemp(join(directory, "state-")),
        sizes,
        signal,
        progress: (text: string) => progress(`${name}: ${turn}${text}`),
      };
      runs.push({ build: build.name, measures: await CASES[name](context) });
    }
  }
  return runs;
}

function findUpstream(): ApiProgram[] {
  const assets = process.env["KUBEBUILDER_ASSETS"] ?? "";
  return assets === "" ? [] : [kubeApiserverProgram(assets)];
}

/** Durable writes mean nothing on a disk that is none; TMPDIR names another. */
async function describeDisk(directory: string): Promise<string> {
  const { type } = await statfs(directory);
  return type === TMPFS ? `files in memory (${tmpdir()} is a tmpfs; set TMPDIR)` : `files in ${tmpdir()}`;
}
