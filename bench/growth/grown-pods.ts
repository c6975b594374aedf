import type { ClusterCaseContext } from "../cluster/cluster-case.ts";
import type { NodeProcess, NodeProgram } from "../cluster/node-program.ts";
import { createPodOn, deletePod, showsGone, showsRunning } from "../cluster/pods.ts";
import { runAlone } from "../cluster/turns.ts";
import type { Measure } from "../measure.ts";
import { type Manifest, sleepingPod } from "../workload.ts";

/** So many calls at a time: a client that made hundreds at once would be measured itself. */
const AT_A_TIME = 50;

/** A node agent on which so many pods run. */
export interface Grown {
  program: NodeProgram;
  process: NodeProcess;
  pods: number;
}

/** Measures the first program with ever more pods, which are gone afterwards. `prefix` begins their names. */
export async function measureGrowing(
  context: ClusterCaseContext,
  prefix: string,
  measureAt: (grown: Grown) => Promise<Measure[]>,
): Promise<Measure[]> {
  const [program] = context.programs;
  if (program === undefined) return [];
  const names: string[] = [];
  return await runAlone(program, async (process) => {
    const measures: Measure[] = [];
    for (const pods of context.sizes.growPods) {
      context.progress(`${pods} pods`);
      const added = Array.from({ length: pods - names.length }, (_, index) => `${prefix}-${names.length + index}`);
      await startPods(context, program, added.map(sleepingPod));
      names.push(...added);
      measures.push(...(await measureAt({ program, process, pods })));
    }
    context.progress("removing the pods");
    await removePods(context, names);
    return measures;
  });
}

/** Creates them all; resolves when each was seen Running. */
export async function startPods(
  { api, signal }: ClusterCaseContext,
  { nodeName }: NodeProgram,
  manifests: readonly Manifest[],
): Promise<void> {
  for (let begin = 0; begin < manifests.length; begin += AT_A_TIME) {
    const part = manifests.slice(begin, begin + AT_A_TIME);
    const names = part.map(({ metadata }) => metadata.name);
    const running = api.pods.until({ names, what: "Running", fits: showsRunning, signal });
    await Promise.all(part.map(async (manifest) => await createPodOn(api.connection, nodeName, manifest)));
    await running;
  }
}

/** Deletes them all; resolves when each was seen gone. */
export async function removePods({ api, signal }: ClusterCaseContext, names: readonly string[]): Promise<void> {
  for (let begin = 0; begin < names.length; begin += AT_A_TIME) {
    const part = names.slice(begin, begin + AT_A_TIME);
    const gone = api.pods.until({ names: part, what: "gone", fits: showsGone, signal });
    await Promise.all(part.map(async (name) => await deletePod(api.connection, name)));
    await gone;
  }
}

/** One pod more, started and ended: from the calls to what a watcher sees, in milliseconds. */
export async function timeOnePod(
  { api, signal }: ClusterCaseContext,
  { nodeName }: NodeProgram,
  manifest: Manifest,
): Promise<{ startMs: number; stopMs: number }> {
  const { name } = manifest.metadata;
  const of = { names: [name], signal };
  const running = api.pods.until({ ...of, what: "Running", fits: showsRunning });
  const createdAt = await createPodOn(api.connection, nodeName, manifest);
  const startMs = ((await running).get(name) ?? 0) - createdAt;
  const gone = api.pods.until({ ...of, what: "gone", fits: showsGone });
  const deletedAt = await deletePod(api.connection, name);
  return { startMs, stopMs: ((await gone).get(name) ?? 0) - deletedAt };
}
