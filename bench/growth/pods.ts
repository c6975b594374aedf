import { setTimeout as delay } from "node:timers/promises";
import type { ClusterCase, ClusterCaseContext } from "../cluster/cluster-case.ts";
import type { NodeProcess } from "../cluster/node-program.ts";
import { readCpuMs, readMemory } from "../control-plane/server-process.ts";
import type { Measure, Target, Unit } from "../measure.ts";
import { summarize } from "../stats.ts";
import { sleepingPod } from "../workload.ts";
import { type Grown, measureGrowing, timeOnePod } from "./grown-pods.ts";

const SETTLE_MS = 3_000;
const SECOND = 1_000;
const SAMPLES = 5;
/** What is to be reached with so many pods: MiB resident. */
const MEMORY_TARGETS: Readonly<Record<number, number>> = { 100: 75, 500: 150 };

/** What a node agent costs with ever more pods, on the fake runtime: all that is measured is the agent's own. */
export const growPods: ClusterCase = async (context) =>
  await measureGrowing(context, "grown", async (grown) => await measureAt(context, grown));

async function measureAt(context: ClusterCaseContext, { program, process, pods }: Grown): Promise<Measure[]> {
  const { sizes, signal } = context;
  const of = (name: string, unit: Unit, values: readonly number[], target?: Target): Measure => {
    const at = { of: "pods", value: pods };
    return { case: "grow-pods", name, unit, at, summary: summarize(values), ...(target && { target }) };
  };
  await delay(SETTLE_MS, undefined, { signal });
  const [begun, cpuMs] = [performance.now(), await readCpuMs([process.pid])];
  await delay(sizes.growIdleSeconds * SECOND, undefined, { signal });
  const share = (100 * ((await readCpuMs([process.pid])) - cpuMs)) / (performance.now() - begun);
  const { resident } = await readMemory([process.pid]);
  const more: Array<{ startMs: number; stopMs: number }> = [];
  const pages: number[] = [];
  const summaries: number[] = [];
  for (let sample = 0; sample < SAMPLES; sample++) {
    more.push(await timeOnePod(context, program, sleepingPod(`more-${sample}`)));
    pages.push(await timePage(process, "/pods"));
    summaries.push(await timePage(process, "/stats/summary"));
  }
  const median = MEMORY_TARGETS[pods];
  return [
    of(
      "one pod more, create called → Running seen",
      "ms",
      more.map(({ startMs }) => startMs),
    ),
    of(
      "one pod less, delete called → gone seen",
      "ms",
      more.map(({ stopMs }) => stopMs),
    ),
    of("/pods answered", "ms", pages),
    of("/stats/summary answered", "ms", summaries),
    of("CPU of the idle agent", "% of a core", [share]),
    of("resident", "MiB", [resident], median === undefined ? undefined : { of: "value", median }),
  ];
}

async function timePage({ read }: NodeProcess, path: string): Promise<number> {
  const begun = performance.now();
  await read(path);
  return performance.now() - begun;
}
