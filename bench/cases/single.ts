import { setTimeout as delay } from "node:timers/promises";
import type { FloorPod } from "../floor.ts";
import { timed } from "../measure.ts";
import { isRunning, seeNoSandbox, seePods } from "../observe.ts";
import { createPoll, type Poll } from "../poll.ts";
import { type RuntimeCalls, readRuntimeCalls } from "../runtime-calls.ts";
import { summarize } from "../stats.ts";
import { sleepingPod } from "../workload.ts";
import type { Case, CaseContext } from "./case.ts";

const POLL_MS = 2;
/** Between a start and the stop, so that neither is charged with what the other left to do. */
const PAUSE_MS = 200;

/**
 * Nothing is looked at before this share of the fastest bare calls has passed: nodelet cannot be done by then, and looking
 * would slow it.
 */
const UNSEEN_SHARE = 0.8;

/** Pods one at a time, started and stopped, the floor's and nodelet's in turns so that noise meets both. */
export const single: Case = async (context) => {
  const { sizes, signal, progress } = context;
  const poll = createPoll({ intervalMs: POLL_MS, signal });
  const bare: Array<FloorPod & { stopMs: number }> = [];
  const ours: NodeletPod[] = [];
  const fastest = { startMs: Number.POSITIVE_INFINITY, stopMs: Number.POSITIVE_INFINITY };
  for (let index = -1; index < sizes.singlePods; index++) {
    progress(`pod ${Math.max(index, 0) + 1} of ${sizes.singlePods}`);
    const floorPod = await context.agent.whilePaused(async () => await runFloorPod(context, `floor-${index + 1}`));
    fastest.startMs = Math.min(fastest.startMs, sumOf(floorPod));
    fastest.stopMs = Math.min(fastest.stopMs, floorPod.stopMs);
    const nodeletPod = await runNodeletPod(context, { poll, fastest }, `single-${index + 1}`);
    // The first pair warms up.
    if (index < 0) continue;
    bare.push(floorPod);
    ours.push(nodeletPod);
  }
  const start = { case: "single", name: "manifest written → Running" } as const;
  const stop = { case: "single", name: "manifest removed → sandbox gone" } as const;
  const part = (name: string, of: (pod: FloorPod) => number) =>
    timed({ case: "single", name: `of the floor: ${name}` }, bare.map(of));
  return [
    timed(
      { ...start, target: { of: "ratio", median: 1.15, p99: 1.2 } },
      ours.map(({ startMs }) => startMs),
      bare.map(sumOf),
    ),
    part("RunPodSandbox", ({ sandboxMs }) => sandboxMs),
    part("CreateContainer", ({ createMs }) => createMs),
    part("StartContainer", ({ startMs }) => startMs),
    timed(
      { case: "single", name: "of nodelet: these three calls" },
      ours.map(({ callsMs }) => callsMs),
      bare.map(sumOf),
    ),
    timed(
      { case: "single", name: "of nodelet: all else" },
      ours.map(({ startMs, callsMs }) => startMs - callsMs),
    ),
    timed(
      { ...stop, target: { of: "ratio", median: 1.15 } },
      ours.map(({ stopMs }) => stopMs),
      bare.map(({ stopMs }) => stopMs),
    ),
    {
      case: "single",
      name: "runtime calls of a start",
      unit: "calls",
      summary: summarize(ours.map(({ calls }) => calls)),
    },
    timed({ case: "single", name: "seen late by at most" }, poll.errors),
  ];
};

async function runFloorPod({ floor }: CaseContext, name: string): Promise<FloorPod & { stopMs: number }> {
  const prepared = await floor.prepare(sleepingPod(name));
  const pod = await floor.start(prepared);
  await delay(PAUSE_MS);
  return { ...pod, stopMs: await floor.stop(pod) };
}

function sumOf({ sandboxMs, createMs, startMs }: FloorPod): number {
  return sandboxMs + createMs + startMs;
}

interface NodeletPod {
  startMs: number;
  stopMs: number;
  /** What the three calls take that the floor makes too. */
  callsMs: number;
  calls: number;
}

const START_CALLS = ["run_podsandbox", "create_container", "start_container"];

/** How long the calls took that one pod's start made, by what they add up to before and after it. */
function computeStartCallsMs(before: RuntimeCalls, after: RuntimeCalls): number {
  const added = START_CALLS.map((call) => (after.durationsMs.get(call) ?? 0) - (before.durationsMs.get(call) ?? 0));
  return added.reduce((sum, ms) => sum + ms, 0);
}

interface Observation {
  poll: Poll;
  fastest: { startMs: number; stopMs: number };
}

async function runNodeletPod(
  { agent, world }: CaseContext,
  { poll, fastest }: Observation,
  name: string,
): Promise<NodeletPod> {
  const before = readRuntimeCalls(await agent.metrics());
  const writtenAt = await agent.write(sleepingPod(name));
  await delay(fastest.startMs * UNSEEN_SHARE);
  const seen = await seePods(agent, poll, { names: [name], what: "Running", fits: isRunning });
  await delay(PAUSE_MS);
  const after = readRuntimeCalls(await agent.metrics());
  const removedAt = await agent.remove(name);
  await delay(fastest.stopMs * UNSEEN_SHARE);
  const goneAt = await seeNoSandbox(world.cri, poll);
  await delay(PAUSE_MS);
  const times = { startMs: (seen.get(name) ?? 0) - writtenAt, stopMs: goneAt - removedAt };
  return { ...times, callsMs: computeStartCallsMs(before, after), calls: after.count - before.count };
}
