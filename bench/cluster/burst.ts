import type { Measure, Target } from "../measure.ts";
import { sleepingPod } from "../workload.ts";
import { type Round, runFloorRound, runNodeRound } from "./burst-round.ts";
import { type ClusterCase, type ClusterCaseContext, compareNodes } from "./cluster-case.ts";
import { takeTurns } from "./turns.ts";

/** Targets for so many pods: the last to the floor's last, each to the Go kubelet's. */
const TARGETS: Readonly<Record<number, { start: number; stop?: number; each?: number }>> = {
  30: { start: 1.1 },
  100: { start: 1.1, stop: 1.08, each: 0.5 },
};
/** The CPU of the node agent, to the Go kubelet's. */
const CPU_TARGET = { of: "kubelet", median: 0.6 } as const;

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

interface Rounds {
  floor: Round[];
  /** The rounds of each program, in the order of the programs. */
  nodes: Round[][];
}

async function runRounds(context: ClusterCaseContext, { pods, rounds }: Burst): Promise<Rounds> {
  return await takeTurns(context, async (turns) => {
    const done: Rounds = { floor: [], nodes: turns.runners.map(() => []) };
    for (let round = 1; round <= rounds; round++) {
      const say = (what: string) => context.progress(`${pods} pods, round ${round} of ${rounds}: ${what}`);
      const manifests = Array.from({ length: pods }, (_, index) => sleepingPod(`burst-${round}-${index}`));
      say("bare calls");
      done.floor.push(await turns.floor(async () => await runFloorRound(context, manifests)));
      for (const [place, runner] of turns.inTurn(round)) {
        say(runner.program.name);
        const result = await turns.of(runner, async () => await runNodeRound(context, runner, manifests));
        done.nodes[place]?.push(result);
      }
    }
    return done;
  });
}

function describe(context: ClusterCaseContext, pods: number, { floor, nodes }: Rounds): Measure[] {
  const targets = TARGETS[pods];
  const of = (what: "startsMs" | "stopsMs", pick: (ms: number[]) => number[], target?: Target) => {
    const valuesOf = (rounds: Round[]) => rounds.flatMap((round) => pick(round[what]));
    return { values: nodes.map(valuesOf), rounds: floor.length, floor: valuesOf(floor), ...(target && { target }) };
  };
  const cpu = (name: string, pick: (round: Round) => number, target?: Target) => {
    const values = nodes.map((rounds) => rounds.map((round) => pick(round) / pods));
    const what = { case: "cluster-burst", name: `${pods} pods, ${name}, a pod and its end` } as const;
    return compareNodes(context, { ...what, values, ...(target && { target }) });
  };
  const atMost = (of: Target["of"], median: number | undefined) => (median === undefined ? undefined : { of, median });
  const each = (ms: number[]) => ms;
  const last = (ms: number[]) => [Math.max(...ms)];
  const start = { case: "cluster-burst", name: `${pods} pods, create called → Running seen` } as const;
  const stop = { case: "cluster-delete-burst", name: `${pods} pods, delete called → gone seen` } as const;
  return [
    compareNodes(context, { ...start, ...of("startsMs", each, atMost("kubelet", targets?.each)) }),
    compareNodes(context, {
      ...start,
      name: `${start.name}, the last`,
      ...of("startsMs", last, atMost("ratio", targets?.start)),
    }),
    cpu("CPU of the node agent", ({ agentCpuMs }) => agentCpuMs, CPU_TARGET),
    cpu("CPU of the API server", ({ serverCpuMs }) => serverCpuMs),
    compareNodes(context, { ...stop, ...of("stopsMs", each) }),
    compareNodes(context, {
      ...stop,
      name: `${stop.name}, the last`,
      ...of("stopsMs", last, atMost("ratio", targets?.stop)),
    }),
  ];
}
