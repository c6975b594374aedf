import { setTimeout as delay } from "node:timers/promises";
import { createLimiter } from "../../src/base/limiter.ts";
import { MAX_PARALLEL_STARTS } from "../../src/node/runtime/start-line.ts";
import { readCpuMs } from "../control-plane/server-process.ts";
import type { FloorPod } from "../floor.ts";
import type { Measure, Target } from "../measure.ts";
import { sleepingPod } from "../workload.ts";
import { type ClusterCase, type ClusterCaseContext, compareNodes } from "./cluster-case.ts";
import { createPodOn, deletePod, showsGone, showsRunning } from "./pods.ts";
import { type Runner, takeTurns } from "./turns.ts";

const PAUSE_MS = 2_000;
/** Of the last pod, to the last of the floor. */
const LAST_TARGETS: Readonly<Record<number, { start: number; stop?: number }>> = {
  30: { start: 1.25 },
  100: { start: 1.13, stop: 1.06 },
};

/** Many pods at once, created and then deleted. */
export const clusterBurst: ClusterCase = async (context) => {
  const measures: Measure[] = [];
  for (const burst of context.sizes.clusterBursts) {
    const rounds = await runRounds(context, burst);
    measures.push(...describe(context, burst.pods, rounds));
  }
  return measures;
};

interface Burst {
  pods: number;
  rounds: number;
}

interface Round {
  /** Of every pod. */
  startsMs: number[];
  stopsMs: number[];
  /** Of the node agent and of the API server, from the first call to the last pod gone. */
  agentCpuMs: number;
  serverCpuMs: number;
}

interface Rounds {
  floor: Round[];
  /** Of each program, in the order of the programs. */
  nodes: Round[][];
}

async function runRounds(context: ClusterCaseContext, { pods, rounds }: Burst): Promise<Rounds> {
  return await takeTurns(context, async (turns) => {
    const done: Rounds = { floor: [], nodes: turns.runners.map(() => []) };
    for (let round = 1; round <= rounds; round++) {
      const say = (what: string) => context.progress(`${pods} pods, round ${round} of ${rounds}: ${what}`);
      const names = Array.from({ length: pods }, (_, index) => `burst-${round}-${index}`);
      say("bare calls");
      done.floor.push(await turns.floor(async () => await runFloorRound(context, names)));
      for (const [place, runner] of turns.runners.entries()) {
        say(runner.program.name);
        const result = await turns.of(runner, async () => await runNodeRound(context, runner, names));
        done.nodes[place]?.push(result);
      }
    }
    return done;
  });
}

/** As many starts at a time as nodelet makes; all stops at once. */
async function runFloorRound({ floor }: ClusterCaseContext, names: readonly string[]): Promise<Round> {
  const prepared = await Promise.all(names.map(async (pod) => await floor.prepare(sleepingPod(pod))));
  const limiter = createLimiter(MAX_PARALLEL_STARTS);
  const startsMs: number[] = [];
  const begun = performance.now();
  const pods: FloorPod[] = await Promise.all(
    prepared.map(async (pod) => {
      const started = await limiter.run(async () => await floor.start(pod));
      startsMs.push(performance.now() - begun);
      return started;
    }),
  );
  await delay(PAUSE_MS);
  const stopsMs = await Promise.all(pods.map(async (pod) => await floor.stop(pod)));
  return { startsMs, stopsMs, agentCpuMs: 0, serverCpuMs: 0 };
}

async function runNodeRound(
  { api, signal }: ClusterCaseContext,
  { program, process }: Runner,
  names: readonly string[],
): Promise<Round> {
  // After a long pause the node agent has connections to open anew.
  await delay(PAUSE_MS);
  const call = async (seen: Promise<ReadonlyMap<string, number>>, make: (name: string) => Promise<number>) => {
    const calledAt = await Promise.all(names.map(make));
    const seenAt = await seen;
    return names.map((name, index) => (seenAt.get(name) ?? 0) - (calledAt[index] ?? 0));
  };
  const cpuMs = [await readCpuMs([process.pid]), await api.readCpuMs()] as const;
  const running = api.pods.until({ names, what: "Running", fits: showsRunning, signal });
  const startsMs = await call(
    running,
    async (name) => await createPodOn(api.connection, program.nodeName, sleepingPod(name)),
  );
  await delay(PAUSE_MS);
  const gone = api.pods.until({ names, what: "gone", fits: showsGone, signal });
  const stopsMs = await call(gone, async (name) => await deletePod(api.connection, name));
  await delay(PAUSE_MS);
  const agentCpuMs = (await readCpuMs([process.pid])) - cpuMs[0];
  return { startsMs, stopsMs, agentCpuMs, serverCpuMs: (await api.readCpuMs()) - cpuMs[1] };
}

function describe(context: ClusterCaseContext, pods: number, { floor, nodes }: Rounds): Measure[] {
  const targets = LAST_TARGETS[pods];
  const of = (what: "startsMs" | "stopsMs", pick: (ms: number[]) => number[], ratio?: number) => {
    const valuesOf = (rounds: Round[]) => rounds.flatMap((round) => pick(round[what]));
    const target: Target | undefined = ratio === undefined ? undefined : { of: "ratio", median: ratio };
    return { values: nodes.map(valuesOf), floor: valuesOf(floor), ...(target && { target }) };
  };
  const cpu = (name: string, pick: (round: Round) => number) => {
    const values = nodes.map((rounds) => rounds.map((round) => pick(round) / pods));
    return compareNodes(context, { case: "cluster-burst", name: `${pods} pods, ${name}, a pod and its end`, values });
  };
  const each = (ms: number[]) => ms;
  const last = (ms: number[]) => [Math.max(...ms)];
  const start = { case: "cluster-burst", name: `${pods} pods, create called → Running seen` } as const;
  const stop = { case: "cluster-delete-burst", name: `${pods} pods, delete called → gone seen` } as const;
  return [
    compareNodes(context, { ...start, ...of("startsMs", each) }),
    compareNodes(context, { ...start, name: `${start.name}, the last`, ...of("startsMs", last, targets?.start) }),
    cpu("CPU of the node agent", ({ agentCpuMs }) => agentCpuMs),
    cpu("CPU of the API server", ({ serverCpuMs }) => serverCpuMs),
    compareNodes(context, { ...stop, ...of("stopsMs", each) }),
    compareNodes(context, { ...stop, name: `${stop.name}, the last`, ...of("stopsMs", last, targets?.stop) }),
  ];
}
