import { setTimeout as delay } from "node:timers/promises";
import type { ClusterCase, ClusterCaseContext } from "../cluster/cluster-case.ts";
import type { NodeProcess, NodeProgram } from "../cluster/node-program.ts";
import { createPodOn } from "../cluster/pods.ts";
import { readCpuMs } from "../control-plane/server-process.ts";
import type { Measure, Unit } from "../measure.ts";
import { listContainers, toMilliseconds } from "../observe.ts";
import { summarize } from "../stats.ts";
import { endingPod } from "../workload.ts";
import { type Grown, measureGrowing, removePods } from "./grown-pods.ts";

const SETTLE_MS = 3_000;
const SECOND = 1_000;
const ENDING_CONTAINERS = 5;

/** A runtime that tells of no event: the node agent looks at all pods every second. On the fake runtime. */
export const growRelist: ClusterCase = async (context) =>
  await measureGrowing(context, "listed", async (grown) => await measureAt(context, grown));

async function measureAt(context: ClusterCaseContext, { program, process, pods }: Grown): Promise<Measure[]> {
  const { sizes, signal } = context;
  await delay(SETTLE_MS, undefined, { signal });
  const [begun, cpuMs, before] = [performance.now(), await readCpuMs([process.pid]), await readRelists(process)];
  await delay(sizes.growIdleSeconds * SECOND, undefined, { signal });
  const share = (100 * ((await readCpuMs([process.pid])) - cpuMs)) / (performance.now() - begun);
  const after = await readRelists(process);
  const of = (name: string, unit: Unit, values: readonly number[]): Measure => {
    return { case: "grow-relist", name, unit, at: { of: "pods", value: pods }, summary: summarize(values) };
  };
  return [
    of("a relist", "ms", [(SECOND * (after.seconds - before.seconds)) / Math.max(1, after.count - before.count)]),
    of("CPU of the idle agent", "% of a core", [share]),
    of("container ended → its end seen", "ms", await timeEnds(context, program, `ends-among-${pods}`)),
  ];
}

async function readRelists({ metrics }: NodeProcess): Promise<{ count: number; seconds: number }> {
  const text = await metrics();
  const read = (part: string) =>
    Number(new RegExp(`^kubelet_pleg_relist_duration_seconds_${part} (\\S+)`, "m").exec(text)?.[1] ?? 0);
  return { count: read("count"), seconds: read("sum") };
}

/** From the end of each container, as the runtime noted it, to the event that shows it. */
async function timeEnds(context: ClusterCaseContext, { nodeName }: NodeProgram, name: string): Promise<number[]> {
  const { api, signal, world } = context;
  const containers = Array.from({ length: ENDING_CONTAINERS }, (_, index) => `ends-${index}`);
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
  await createPodOn(api.connection, nodeName, endingPod(name, ENDING_CONTAINERS));
  const delays: number[] = [];
  const listed = new Map<string, string>();
  const seenAt = await seen;
  for (const { id, metadata } of await listContainers(world.cri)) listed.set(metadata?.name ?? "", id);
  for (const { container, seenAt: at } of seenAt) {
    const containerId = listed.get(container) ?? "";
    const { status } = await world.cri.runtime.containerStatus({ containerId, verbose: false });
    delays.push(at - (toMilliseconds(status?.finishedAt ?? 0n) - performance.timeOrigin));
  }
  await removePods(context, [name]);
  return delays;
}
