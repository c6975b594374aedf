import { type Measure, timed } from "../measure.ts";
import { sleepingPod } from "../workload.ts";
import { type Round, runFloorRound, runNodeRound } from "./burst-round.ts";
import { type ClusterCase, type ClusterCaseContext, compareNodes } from "./cluster-case.ts";
import { takeTurns } from "./turns.ts";
import { podWithoutVolumes, podWithVolumes, withVolumeObjects } from "./volume-pods.ts";

interface Rounds {
  floor: Round;
  /** The rounds of each program, in the order of the programs. */
  without: Round[];
  with: Round[];
}

/** Many pods at once that have a token, a config map and a secret each, beside as many that have none. */
export const volumesBurst: ClusterCase = async (context) => {
  const { progress, sizes, api } = context;
  const manifests = <T>(name: string, make: (name: string) => T) =>
    Array.from({ length: sizes.volumeBurstPods }, (_, index) => make(`${name}-${index}`));
  return await takeTurns(context, async (turns) => {
    progress("bare calls");
    const floor = await turns.floor(async () => await runFloorRound(context, manifests("floor", sleepingPod)));
    const rounds: Rounds = { floor, without: [], with: [] };
    await withVolumeObjects(api, async () => {
      for (const runner of turns.runners) {
        const run = async (kind: "with" | "without", make: typeof podWithVolumes) => {
          progress(`${runner.program.name}: ${kind} volumes`);
          const pods = manifests(kind, make);
          rounds[kind].push(await turns.of(runner, async () => await runNodeRound(context, runner, pods)));
        };
        await run("without", podWithoutVolumes);
        await run("with", podWithVolumes);
      }
    });
    return describe(context, rounds);
  });
};

function describe(context: ClusterCaseContext, { floor, ...rounds }: Rounds): Measure[] {
  const pods = `${context.sizes.volumeBurstPods} pods`;
  const last = (ms: readonly number[]) => [Math.max(...ms)];
  const measures = (["without", "with"] as const).flatMap((kind) => {
    const starts = rounds[kind].map(({ startsMs }) => startsMs);
    const stops = rounds[kind].map(({ stopsMs }) => stopsMs);
    const of = (name: string) => ({ case: "volumes-burst" as const, name: `${pods} ${kind} volumes, ${name}` });
    return [
      compareNodes(context, { ...of("create called → Running seen"), values: starts, floor: floor.startsMs }),
      compareNodes(context, { ...of("the last of them"), values: starts.map(last), floor: last(floor.startsMs) }),
      compareNodes(context, { ...of("the last gone"), values: stops.map(last), floor: last(floor.stopsMs) }),
      compareNodes(context, { ...of("CPU of the node agent, a pod"), values: rounds[kind].map(cpuPerPod) }),
    ];
  });
  const added = rounds.with.map(
    (round, index) => Math.max(...round.startsMs) / Math.max(...(rounds.without[index]?.startsMs ?? [])),
  );
  return [
    ...measures,
    { ...timed({ case: "volumes-burst", name: `${pods}, the last, with ÷ without` }, added), unit: "×" },
  ];
}

function cpuPerPod({ agentCpuMs, startsMs }: Round): number[] {
  return [agentCpuMs / startsMs.length];
}
