import { readFile } from "node:fs/promises";
import { messageOf } from "../../src/base/errors.ts";
import { attempt } from "../attempt.ts";
import type { CaseRun, CaseRuns, RunOptions, RunTools } from "../case-run.ts";
import { churn } from "../growth/churn.ts";
import { createFakeWorld } from "../growth/fake-world.ts";
import { growPods } from "../growth/pods.ts";
import { growRelist } from "../growth/relist.ts";
import { growSecrets } from "../growth/secrets.ts";
import { growVolumes } from "../growth/volumes.ts";
import { inTurn } from "../in-turn.ts";
import type { Measure } from "../measure.ts";
import type { ClusterCaseName } from "../options.ts";
import { createWorld, type World } from "../world.ts";
import { clusterBurst } from "./burst.ts";
import type { ClusterCase, ClusterCaseContext } from "./cluster-case.ts";
import { createClusterWorld } from "./cluster-world.ts";
import { clusterExit } from "./exit.ts";
import { clusterFiles } from "./file-calls.ts";
import { clusterIdle } from "./idle.ts";
import { clusterReady } from "./ready.ts";
import { clusterRestart } from "./restart.ts";
import { clusterSingle } from "./single.ts";
import { volumesBurst } from "./volumes-burst.ts";
import { volumesSingle } from "./volumes-single.ts";
import { volumesWatch } from "./volumes-watch.ts";

interface Together {
  names: readonly ClusterCaseName[];
  run: ClusterCase;
  /** It takes its programs in turns; else two builds are run one after the other, round by round. */
  takesTurns?: true;
  /** Default: containerd. */
  runtime?: Runtime;
}

/** What the pods run on. */
type Runtime = "containerd" | "fake" | "fake without events";

const WORLDS: Readonly<Record<Runtime, () => Promise<World>>> = {
  containerd: createWorld,
  fake: createFakeWorld,
  "fake without events": async () => await createFakeWorld(["getContainerEvents"]),
};

/** What is measured together; of it is told what is asked for. */
const CASES: readonly Together[] = [
  { names: ["cluster-ready"], run: clusterReady, takesTurns: true },
  { names: ["cluster-single", "cluster-delete"], run: clusterSingle, takesTurns: true },
  { names: ["cluster-burst", "cluster-delete-burst"], run: clusterBurst, takesTurns: true },
  { names: ["cluster-exit"], run: clusterExit },
  { names: ["cluster-idle", "cluster-memory"], run: clusterIdle },
  { names: ["volumes-single"], run: volumesSingle, takesTurns: true },
  { names: ["volumes-burst"], run: volumesBurst, takesTurns: true },
  { names: ["volumes-watch"], run: volumesWatch },
  { names: ["cluster-restart"], run: clusterRestart },
  { names: ["cluster-files"], run: clusterFiles },
  { names: ["grow-volumes"], run: growVolumes },
  { names: ["grow-pods"], run: growPods, runtime: "fake" },
  { names: ["grow-churn"], run: churn, runtime: "fake" },
  { names: ["grow-secrets"], run: growSecrets, runtime: "fake" },
  { names: ["grow-relist"], run: growRelist, runtime: "fake without events" },
];

const LOG_TAIL_CHARACTERS = 4_000;

/** The cases of a node in a cluster, on runtimes and API servers of their own. */
export async function runClusterCases(
  options: RunOptions & { clusterCases: readonly ClusterCaseName[] },
  tools: RunTools,
): Promise<CaseRuns> {
  const runs: CaseRun[] = [];
  const runtimes: string[] = [];
  for (const runtime of ["containerd", "fake", "fake without events"] as const) {
    const cases = CASES.filter((together) => (together.runtime ?? "containerd") === runtime)
      .map((together) => ({ together, asked: options.clusterCases.filter((name) => together.names.includes(name)) }))
      .filter(({ asked }) => asked.length > 0);
    if (cases.length === 0) continue;
    const result = await runOn(runtime, cases, { ...options, tools });
    runs.push(...result.runs);
    runtimes.push(...result.runtimes);
  }
  return { runs, runtimes };
}

async function runOn(
  runtime: Runtime,
  cases: ReadonlyArray<{ together: Together; asked: readonly ClusterCaseName[] }>,
  { tools, ...options }: RunOptions & { tools: RunTools },
): Promise<CaseRuns> {
  const left = [...cases];
  const runs: CaseRun[] = [];
  const runtimes: string[] = [];
  while (left.length > 0) {
    tools.progress("starting the runtime and the control plane");
    const { destroy, ...cluster } = await createClusterWorld(options.builds, tools.signal, WORLDS[runtime]);
    const isAlone = cluster.programs.length === 1;
    if (runtime === "containerd") runtimes.push(`containerd ${cluster.world.containerd.version}`);
    if (runtime === "containerd" && isAlone) runtimes.push("no Go kubelet beside it, for KUBELET_BIN is not set");
    try {
      for (let next = left.shift(); next !== undefined; next = left.shift()) {
        const { together, asked } = next;
        const run = async (limited: RunTools) =>
          await runRounds(cluster, together, { ...options, asked, tools: limited });
        const done = await attempt(asked.join(", "), tools, run);
        // What the case left behind goes with all the rest.
        if (done === undefined) break;
        runs.push(...done);
      }
    } finally {
      tools.progress("removing what was made");
      await destroy();
    }
  }
  return { runs, runtimes };
}

type Cluster = Pick<ClusterCaseContext, "world" | "floor" | "api" | "programs">;

async function runRounds(
  cluster: Cluster,
  { run, takesTurns }: Together,
  { builds, rounds, sizes, asked, tools }: RunOptions & { asked: readonly ClusterCaseName[]; tools: RunTools },
): Promise<CaseRun[]> {
  const { signal, progress } = tools;
  const measure = async (programs: Cluster["programs"], turn: string): Promise<Measure[]> => {
    const say = (text: string) => progress(`${asked.join(", ")}: ${turn}${text}`);
    try {
      const measured = await run({ ...cluster, programs, sizes, signal, progress: say });
      return measured.filter((of) => asked.some((name) => name === of.case));
    } catch (error) {
      signal.throwIfAborted();
      const log = (await readFile(cluster.world.agentLog, "utf8").catch(() => "")).slice(-LOG_TAIL_CHARACTERS);
      throw new Error(`${messageOf(error)}\nnodelet said:\n${log}`, { cause: error });
    }
  };
  if (builds.length === 1 || takesTurns) {
    return [{ build: builds[0].name, measures: await measure(cluster.programs, "") }];
  }
  const runs: CaseRun[] = [];
  for (let round = 0; round < rounds; round++) {
    for (const [, program] of inTurn(cluster.programs, round)) {
      const measures = await measure([program], `turn ${round + 1} of ${rounds}, `);
      runs.push({ build: program.name, measures });
    }
  }
  return runs;
}
