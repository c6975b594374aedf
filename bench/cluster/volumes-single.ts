import { setTimeout as delay } from "node:timers/promises";
import { type Measure, timed } from "../measure.ts";
import type { Manifest } from "../workload.ts";
import { type ClusterCase, type ClusterCaseContext, compareNodes } from "./cluster-case.ts";
import { createPodOn, deletePod, showsGone, showsRunning } from "./pods.ts";
import { type Runner, takeTurns } from "./turns.ts";
import { podWithoutVolumes, podWithVolumes, withVolumeObjects } from "./volume-pods.ts";

/** Between a start and the stop, so that neither is charged with what the other left to do. */
const PAUSE_MS = 300;
const ADDED_TARGET_MS = 15;

interface Pair {
  withMs: number;
  withoutMs: number;
}

/** What a token, a config map and a secret add to a pod's start: pods with them and without, in turns. */
export const volumesSingle: ClusterCase = async (context) => {
  const { sizes, progress, api } = context;
  return await takeTurns(context, async ({ runners, inTurn, of }) => {
    const pairs: Pair[][] = runners.map(() => []);
    await withVolumeObjects(api, async () => {
      for (let index = -1; index < sizes.volumePairs; index++) {
        progress(`pair ${Math.max(index, 0) + 1} of ${sizes.volumePairs}`);
        for (const [place, runner] of inTurn(index)) {
          const pair = await of(runner, async () => await runPair(context, runner, index));
          // The first warms up.
          if (index >= 0) pairs[place]?.push(pair);
        }
      }
    });
    return describe(context, pairs);
  });
};

/** Which of the two comes first changes with every pair. */
async function runPair(context: ClusterCaseContext, runner: Runner, index: number): Promise<Pair> {
  const run = async (manifest: Manifest) => await runPod(context, runner, manifest);
  const mounting = podWithVolumes(`with-${index + 1}`);
  const bare = podWithoutVolumes(`without-${index + 1}`);
  if (index % 2 === 0) return { withMs: await run(mounting), withoutMs: await run(bare) };
  return { withoutMs: await run(bare), withMs: await run(mounting) };
}

async function runPod({ api, signal }: ClusterCaseContext, { program }: Runner, manifest: Manifest): Promise<number> {
  const { name } = manifest.metadata;
  const of = { names: [name], signal };
  const running = api.pods.until({ ...of, what: "Running", fits: showsRunning });
  const createdAt = await createPodOn(api.connection, program.nodeName, manifest);
  const startMs = ((await running).get(name) ?? 0) - createdAt;
  await delay(PAUSE_MS);
  const gone = api.pods.until({ ...of, what: "gone", fits: showsGone });
  await deletePod(api.connection, name);
  await gone;
  await delay(PAUSE_MS);
  return startMs;
}

function describe(context: ClusterCaseContext, pairs: readonly Pair[][]): Measure[] {
  const of = (pick: (pair: Pair) => number) => pairs.map((ofProgram) => ofProgram.map(pick));
  const without = of(({ withoutMs }) => withoutMs);
  const start = { case: "volumes-single", name: "token, config map, secret: create called → Running seen" } as const;
  const added = of(({ withMs, withoutMs }) => withMs - withoutMs);
  return [
    compareNodes(context, { ...start, values: of(({ withMs }) => withMs), floor: without[0] ?? [] }),
    timed({ case: "volumes-single", name: "the same pods without a volume" }, without[0] ?? []),
    compareNodes(context, {
      case: "volumes-single",
      name: "what volumes add to a start, pair by pair",
      target: { of: "value", median: ADDED_TARGET_MS },
      values: added,
    }),
  ];
}
