import { setTimeout as delay } from "node:timers/promises";
import type { FloorPod } from "../floor.ts";
import { type Measure, type Target, timed } from "../measure.ts";
import { type RuntimeCalls, readRuntimeCalls } from "../runtime-calls.ts";
import { sleepingPod } from "../workload.ts";
import { type ClusterCase, type ClusterCaseContext, compareNodes } from "./cluster-case.ts";
import { createPodOn, deletePod, showsGone, showsRunning } from "./pods.ts";
import { type Runner, type Turns, takeTurns } from "./turns.ts";

/** Between a start and the stop, so that neither is charged with what the other left to do. */
const PAUSE_MS = 300;

/** Pods one at a time, created and deleted: the floor's, nodelet's and the kubelet's in turns. */
export const clusterSingle: ClusterCase = async (context) =>
  await takeTurns(context, async (turns) => describe(context, await runPods(context, turns)));

interface Pods {
  floor: BarePod[];
  /** The pods of each program, in the order of the programs. */
  nodes: NodePod[][];
}

type BarePod = FloorPod & { stopMs: number };

interface NodePod {
  startMs: number;
  stopMs: number;
  start: RuntimeCalls;
  stop: RuntimeCalls;
}

async function runPods(context: ClusterCaseContext, turns: Turns): Promise<Pods> {
  const { sizes, progress } = context;
  const pods: Pods = { floor: [], nodes: turns.runners.map(() => []) };
  for (let index = -1; index < sizes.clusterSinglePods; index++) {
    progress(`pod ${Math.max(index, 0) + 1} of ${sizes.clusterSinglePods}`);
    const floorPod = await turns.floor(async () => await runFloorPod(context, `floor-${index + 1}`));
    // The first of each warms up.
    if (index >= 0) pods.floor.push(floorPod);
    for (const [place, runner] of turns.inTurn(index)) {
      const pod = await turns.of(runner, async () => await runNodePod(context, runner, `single-${index + 1}`));
      if (index >= 0) pods.nodes[place]?.push(pod);
    }
  }
  return pods;
}

async function runFloorPod({ floor }: ClusterCaseContext, name: string): Promise<BarePod> {
  const pod = await floor.start(await floor.prepare(sleepingPod(name)));
  await delay(PAUSE_MS);
  return { ...pod, stopMs: await floor.stop(pod) };
}

async function runNodePod(
  { api, signal }: ClusterCaseContext,
  { program, process }: Runner,
  name: string,
): Promise<NodePod> {
  const readCalls = async () => readRuntimeCalls(await process.metrics());
  const of = { names: [name], signal };
  const before = await readCalls();
  const running = api.pods.until({ ...of, what: "Running", fits: showsRunning });
  const createdAt = await createPodOn(api.connection, program.nodeName, sleepingPod(name));
  const startMs = ((await running).get(name) ?? 0) - createdAt;
  await delay(PAUSE_MS);
  const between = await readCalls();
  const gone = api.pods.until({ ...of, what: "gone", fits: showsGone });
  const deletedAt = await deletePod(api.connection, name);
  const stopMs = ((await gone).get(name) ?? 0) - deletedAt;
  await delay(PAUSE_MS);
  const after = await readCalls();
  return { startMs, stopMs, start: computeAdded(before, between), stop: computeAdded(between, after) };
}

function computeAdded(before: RuntimeCalls, after: RuntimeCalls): RuntimeCalls {
  const counts = subtract(after.counts, before.counts);
  return { count: after.count - before.count, counts, durationsMs: subtract(after.durationsMs, before.durationsMs) };
}

function subtract(after: ReadonlyMap<string, number>, before: ReadonlyMap<string, number>): Map<string, number> {
  return new Map([...after].map(([operation, value]) => [operation, value - (before.get(operation) ?? 0)]));
}

/** The floor's calls. */
const CALLS = {
  "cluster-single": { side: "start", operations: ["run_podsandbox", "create_container", "start_container"] },
  "cluster-delete": { side: "stop", operations: ["stop_container", "stop_podsandbox", "remove_podsandbox"] },
} as const;

function describe(context: ClusterCaseContext, { floor, nodes }: Pods): Measure[] {
  const values = (of: (pod: NodePod) => number) => nodes.map((pods) => pods.map(of));
  const bareStartMs = floor.map(({ sandboxMs, createMs, startMs }) => sandboxMs + createMs + startMs);
  const bareStopMs = floor.map(({ stopMs }) => stopMs);
  const start = { case: "cluster-single", name: "create called → Running seen" } as const;
  const stop = { case: "cluster-delete", name: "delete called → gone seen" } as const;
  return [
    compareNodes(context, {
      ...start,
      target: { of: "ratio", median: 1.15, p99: 1.2 },
      values: values(({ startMs }) => startMs),
      floor: bareStartMs,
    }),
    ...describeCalls(context, "cluster-single", nodes, bareStartMs),
    compareNodes(context, {
      ...stop,
      target: { of: "ratio", median: 1.15 },
      values: values(({ stopMs }) => stopMs),
      floor: bareStopMs,
    }),
    ...describeCalls(context, "cluster-delete", nodes, bareStopMs),
  ];
}

/** Those of a start, and those of an end. */
const CALLS_TARGET = 6;

/** What of nodelet's time the runtime has, and which calls those are. */
function describeCalls(
  context: ClusterCaseContext,
  name: "cluster-single" | "cluster-delete",
  nodes: readonly NodePod[][],
  floor: readonly number[],
): Measure[] {
  const { side, operations } = CALLS[name];
  const byNode = nodes.map((pods) => pods.map((pod) => pod[side]));
  const own = byNode[0] ?? [];
  const made = [
    ...new Set(own.flatMap(({ counts }) => [...counts].filter(([, count]) => count > 0).map(([of]) => of))),
  ];
  const sumOf = ({ durationsMs }: RuntimeCalls) =>
    operations.reduce((sum, operation) => sum + (durationsMs.get(operation) ?? 0), 0);
  const counted = (title: string, of: (calls: RuntimeCalls) => number, target?: Target): Measure => {
    const values = byNode.map((calls) => calls.map(of));
    return compareNodes(context, { case: name, name: title, unit: "calls", values, ...(target && { target }) });
  };
  return [
    timed({ case: name, name: "of nodelet: the floor's calls" }, own.map(sumOf), floor),
    counted("runtime calls", ({ count }) => count, { of: "value", median: CALLS_TARGET }),
    ...made.map((operation) => counted(`runtime calls, ${operation}`, ({ counts }) => counts.get(operation) ?? 0)),
  ];
}
