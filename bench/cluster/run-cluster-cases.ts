import { readFile } from "node:fs/promises";
import { messageOf } from "../../src/base/errors.ts";
import type { Measure } from "../measure.ts";
import type { BenchOptions, ClusterCaseName } from "../options.ts";
import { clusterBurst } from "./burst.ts";
import type { ClusterCase } from "./cluster-case.ts";
import { createClusterWorld } from "./cluster-world.ts";
import { clusterExit } from "./exit.ts";
import { clusterIdle } from "./idle.ts";
import { clusterReady } from "./ready.ts";
import { clusterSingle } from "./single.ts";
import { volumesBurst } from "./volumes-burst.ts";
import { volumesSingle } from "./volumes-single.ts";
import { volumesWatch } from "./volumes-watch.ts";

/** What is measured together; of it is told what is asked for. */
const CASES: ReadonlyArray<{ names: readonly ClusterCaseName[]; run: ClusterCase }> = [
  { names: ["cluster-ready"], run: clusterReady },
  { names: ["cluster-single", "cluster-delete"], run: clusterSingle },
  { names: ["cluster-burst", "cluster-delete-burst"], run: clusterBurst },
  { names: ["cluster-exit"], run: clusterExit },
  { names: ["cluster-idle", "cluster-memory"], run: clusterIdle },
  { names: ["volumes-single"], run: volumesSingle },
  { names: ["volumes-burst"], run: volumesBurst },
  { names: ["volumes-watch"], run: volumesWatch },
];

const LOG_TAIL_CHARACTERS = 4_000;

/** The cases of a node in a cluster, on a containerd and an API server of their own. */
export async function runClusterCases(
  options: BenchOptions,
  { signal, progress }: { signal: AbortSignal; progress(text: string): void },
): Promise<{ measures: readonly Measure[]; runtimes: readonly string[] }> {
  const { clusterCases } = options;
  if (clusterCases.length === 0) return { measures: [], runtimes: [] };
  progress("starting containerd and the control plane");
  const { destroy, ...cluster } = await createClusterWorld(options.program, signal);
  try {
    const measures: Measure[] = [];
    for (const { names, run } of CASES) {
      const asked: readonly string[] = clusterCases.filter((name) => names.includes(name));
      if (asked.length === 0) continue;
      const say = (text: string) => progress(`${asked.join(", ")}: ${text}`);
      try {
        const measured = await run({ ...cluster, sizes: options.sizes, signal, progress: say });
        measures.push(...measured.filter((measure) => asked.includes(measure.case)));
      } catch (error) {
        signal.throwIfAborted();
        const log = (await readFile(cluster.world.agentLog, "utf8").catch(() => "")).slice(-LOG_TAIL_CHARACTERS);
        throw new Error(`${asked.join(", ")}: ${messageOf(error)}\nnodelet said:\n${log}`, { cause: error });
      }
    }
    const others = cluster.programs.length > 1 ? [] : ["no Go kubelet beside it, for KUBELET_BIN is not set"];
    return { measures, runtimes: [`containerd ${cluster.world.containerd.version}`, ...others] };
  } finally {
    progress("removing what was made");
    await destroy();
  }
}
