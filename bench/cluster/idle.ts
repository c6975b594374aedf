import { setTimeout as delay } from "node:timers/promises";
import { readCpuMs, readMemory } from "../control-plane/server-process.ts";
import type { Measure, Target, Unit } from "../measure.ts";
import { readRuntimeCalls } from "../runtime-calls.ts";
import { sleepingPod } from "../workload.ts";
import { type ClusterCase, type ClusterCaseContext, compareNodes } from "./cluster-case.ts";
import type { NodeProcess, NodeProgram } from "./node-program.ts";
import { createPodOn, deletePod, showsGone, showsRunning } from "./pods.ts";
import { clearRuntime, runAlone } from "./turns.ts";

const SETTLE_MS = 10_000;
const SECOND = 1_000;
const CPU_TARGET = { of: "value", median: 0.2 } as const;

interface Weight {
  /** What the agent and the API server took, in percent of a core. */
  cpuShare: number;
  serverCpuShare: number;
  calls: number;
  empty: Memory;
  full: Memory;
}

type Memory = Awaited<ReturnType<typeof readMemory>>;

/** What a node agent costs that has nothing to do: its memory without and with pods, and the CPU it takes with them. */
export const clusterIdle: ClusterCase = async (context) => {
  const { programs, sizes } = context;
  const weights: Weight[] = [];
  for (const program of programs) {
    weights.push(await runAlone(program, async (process) => await weigh(context, program, process)));
    await clearRuntime(context);
  }
  const pods = `${sizes.clusterIdlePods} pods`;
  const of = (name: string, unit: Unit, pick: (weight: Weight) => number, target?: Target): Measure => {
    const kind = unit === "MiB" ? "cluster-memory" : "cluster-idle";
    const values = weights.map((weight) => [pick(weight)]);
    return compareNodes(context, { case: kind, name, unit, values, ...(target && { target }) });
  };
  return [
    of(`CPU, ${pods}`, "% of a core", ({ cpuShare }) => cpuShare),
    of(`CPU of the API server, ${pods}`, "% of a core", ({ serverCpuShare }) => serverCpuShare),
    of(`CPU of both, ${pods}`, "% of a core", (weight) => weight.cpuShare + weight.serverCpuShare, CPU_TARGET),
    of(`runtime calls in ${sizes.clusterIdleSeconds} s`, "calls", ({ calls }) => calls),
    of("resident, no pods", "MiB", ({ empty }) => empty.resident, { of: "value", median: 55 }),
    of("proportional, no pods", "MiB", ({ empty }) => empty.proportional),
    of(`resident, ${pods}`, "MiB", ({ full }) => full.resident, { of: "value", median: 75 }),
    of(`proportional, ${pods}`, "MiB", ({ full }) => full.proportional),
  ];
};

async function weigh(context: ClusterCaseContext, program: NodeProgram, process: NodeProcess): Promise<Weight> {
  const { api, sizes, signal } = context;
  const { pid } = process;
  const say = (what: string) => context.progress(`${program.name}, ${what}`);
  const readCalls = async () => readRuntimeCalls(await process.metrics()).count;
  const names = Array.from({ length: sizes.clusterIdlePods }, (_, index) => `idle-${index}`);
  say("no pods");
  await delay(SETTLE_MS, undefined, { signal });
  const empty = await readMemory([pid]);
  say(`starting ${names.length} pods`);
  const running = api.pods.until({ names, what: "Running", fits: showsRunning, signal });
  for (const name of names) await createPodOn(api.connection, program.nodeName, sleepingPod(name));
  await running;
  await delay(SETTLE_MS, undefined, { signal });
  say(`${sizes.clusterIdleSeconds} s with ${names.length} pods`);
  const callsBefore = await readCalls();
  const [begun, cpuMs, serverMs] = [performance.now(), await readCpuMs([pid]), await api.readCpuMs()];
  await delay(sizes.clusterIdleSeconds * SECOND, undefined, { signal });
  const share = (ms: number) => (100 * ms) / (performance.now() - begun);
  const cpuShare = share((await readCpuMs([pid])) - cpuMs);
  const serverCpuShare = share((await api.readCpuMs()) - serverMs);
  const full = await readMemory([pid]);
  const callsAfter = await readCalls();
  say("removing the pods");
  const gone = api.pods.until({ names, what: "gone", fits: showsGone, signal });
  for (const name of names) await deletePod(api.connection, name);
  await gone;
  return { cpuShare, serverCpuShare, calls: callsAfter - callsBefore, empty, full };
}
