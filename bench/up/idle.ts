import { setTimeout as delay } from "node:timers/promises";
import type { Pod } from "../../src/api/gen/types.ts";
import { openWatch } from "../cluster/object-watch.ts";
import { PODS_PATH, showsRunning } from "../cluster/pods.ts";
import { readCpuMs, readMemory } from "../control-plane/server-process.ts";
import type { Measure } from "../measure.ts";
import { summarize } from "../stats.ts";
import { sleepingPod } from "../workload.ts";
import { createObject, removePods } from "./objects.ts";
import type { UpCase } from "./up-case.ts";

/** A hundred starts leave work behind: statuses are told, memory is collected, code is compiled again. */
const SETTLE_MS = 20_000;
const SECOND = 1_000;
const PERCENT = 100;

/** What the processes of a cluster take that runs pods and has nothing to do. */
export const upIdle: UpCase = async ({ world, sizes, signal, progress }) => {
  const names = Array.from({ length: sizes.upIdlePods }, (_, index) => `idle-${index}`);
  const pods = await openWatch<Pod>(world.connect(), PODS_PATH);
  progress(`starting ${names.length} pods`);
  const running = pods.until({ names, what: "Running", fits: showsRunning, signal });
  for (const name of names) await createObject(world.connection, PODS_PATH, sleepingPod(name));
  await running;
  await delay(SETTLE_MS, undefined, { signal });
  progress(`${sizes.clusterIdleSeconds} s with ${names.length} pods`);
  const pids = await world.readPids();
  const before = new Map<string, number>();
  for (const [name, of] of pids) before.set(name, await readCpuMs(of));
  const begun = performance.now();
  await delay(sizes.clusterIdleSeconds * SECOND, undefined, { signal });
  const elapsedMs = performance.now() - begun;
  const of = { case: "up-idle", unit: "% of a core" } as const;
  const shares: Measure[] = [];
  let sum = 0;
  for (const [name, those] of pids) {
    const share = (PERCENT * ((await readCpuMs(those)) - (before.get(name) ?? 0))) / elapsedMs;
    sum += share;
    shares.push({ ...of, name: `CPU of ${name}, ${names.length} pods`, summary: summarize([share]) });
  }
  const memory = await readMemory([...pids.values()].flat());
  const parts: Measure[] = [];
  for (const [name, those] of pids) {
    const { proportional } = await readMemory(those);
    const part = { name: `proportional of ${name}, ${names.length} pods`, unit: "MiB" } as const;
    parts.push({ ...of, ...part, summary: summarize([proportional]) });
  }
  progress("removing the pods");
  await removePods(world.connection, signal);
  const what = `${names.length} pods, all processes`;
  return [
    { ...of, name: `CPU, ${what}`, summary: summarize([sum]), target: { of: "value", median: 2 } },
    ...shares,
    { ...of, name: `resident, ${what}`, unit: "MiB", summary: summarize([memory.resident]) },
    {
      ...{ ...of, name: `proportional, ${what}`, unit: "MiB", summary: summarize([memory.proportional]) },
      target: { of: "value", median: 350 },
    },
    ...parts,
  ];
};
