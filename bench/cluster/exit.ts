import { setTimeout as delay } from "node:timers/promises";
import { listContainers, toMilliseconds } from "../observe.ts";
import { endingPod, failingPod, type Manifest } from "../workload.ts";
import { type ClusterCase, type ClusterCaseContext, compareNodes } from "./cluster-case.ts";
import type { NodeProgram } from "./node-program.ts";
import { createPodOn, deletePod, showsGone } from "./pods.ts";
import { clearRuntime, runAlone } from "./turns.ts";

const TARGET = { of: "value", median: 150 } as const;
const PAUSE_MS = 500;

/** Containers end; how long until a watcher sees it, counted from the end as the runtime noted it. */
export const clusterExit: ClusterCase = async (context) => {
  const ended: number[][] = [];
  const restarted: number[][] = [];
  for (const program of context.programs) {
    const [ends, restarts] = await runAlone(program, async () => {
      await delay(PAUSE_MS);
      return [await runEndingPods(context, program), await runRestartedPods(context, program)] as const;
    });
    ended.push(ends);
    restarted.push(restarts);
    await clearRuntime(context);
  }
  const of = (name: string, values: number[][]) =>
    compareNodes(context, { case: "cluster-exit", name, target: TARGET, values });
  return [of("container ended → its end seen", ended), of("container ended → it runs again, seen", restarted)];
};

async function runEndingPods(context: ClusterCaseContext, program: NodeProgram): Promise<number[]> {
  const { sizes, api, signal } = context;
  const delays: number[] = [];
  for (let index = 0; index < sizes.exitPods; index++) {
    const name = `ending-${index}`;
    context.progress(`${program.name}, ${name} of ${sizes.exitPods}`);
    const containers = Array.from({ length: sizes.exitContainers }, (_, container) => `ends-${container}`);
    const ends = containers.map(async (container) => {
      const seen = await api.pods.until({
        names: [name],
        what: `end of ${container}`,
        signal,
        fits: ({ object }) => {
          const statuses = object.status?.containerStatuses ?? [];
          return statuses.some((status) => status.name === container && status.state?.terminated !== undefined);
        },
      });
      return { container, seenAt: seen.get(name) ?? 0 };
    });
    const seen = Promise.all(ends);
    await withPod(context, program, endingPod(name, sizes.exitContainers), async () => {
      for (const { container, seenAt } of await seen) delays.push(seenAt - (await readEndedAt(context, container, 0)));
    });
  }
  return delays;
}

async function runRestartedPods(context: ClusterCaseContext, program: NodeProgram): Promise<number[]> {
  const { sizes, api, signal } = context;
  const delays: number[] = [];
  for (let index = 0; index < sizes.exitPods; index++) {
    const name = `restarted-${index}`;
    context.progress(`${program.name}, ${name} of ${sizes.exitPods}`);
    const seen = api.pods.until({
      names: [name],
      what: "a restart",
      signal,
      fits: ({ object }) => {
        const [status] = object.status?.containerStatuses ?? [];
        return status?.restartCount === 1 && status.state?.running !== undefined;
      },
    });
    await withPod(context, program, failingPod(name), async () => {
      const seenAt = (await seen).get(name) ?? 0;
      delays.push(seenAt - (await readEndedAt(context, "main", 0)));
    });
  }
  return delays;
}

/** The pod is gone afterwards. */
async function withPod(
  { api, signal }: ClusterCaseContext,
  { nodeName }: NodeProgram,
  manifest: Manifest,
  work: () => Promise<void>,
): Promise<void> {
  const { name } = manifest.metadata;
  await createPodOn(api.connection, nodeName, manifest);
  await work();
  const gone = api.pods.until({ names: [name], what: "gone", fits: showsGone, signal });
  await deletePod(api.connection, name);
  await gone;
  await delay(PAUSE_MS);
}

/** By the runtime's word, in milliseconds of `performance.now()`. The runtime holds one pod only. */
async function readEndedAt({ world }: ClusterCaseContext, name: string, attempt: number): Promise<number> {
  for (const { id, metadata } of await listContainers(world.cri)) {
    if (metadata?.name !== name || metadata.attempt !== attempt) continue;
    const { status } = await world.cri.runtime.containerStatus({ containerId: id, verbose: false });
    return toMilliseconds(status?.finishedAt ?? 0n) - performance.timeOrigin;
  }
  throw new Error(`the runtime does not know when ${name} ended`);
}
