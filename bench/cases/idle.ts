import { readFile } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import type { Measure, Target, Unit } from "../measure.ts";
import { isRunning, seeNoSandbox, seePods } from "../observe.ts";
import { createPoll } from "../poll.ts";
import { readRuntimeCalls } from "../runtime-calls.ts";
import { summarize } from "../stats.ts";
import { sleepingPod } from "../workload.ts";
import type { Case } from "./case.ts";

const SETTLE_MS = 10_000;
const POLL_MS = 250;
/** The unit of `/proc/<pid>/stat`, USER_HZ, is 100 wherever Node.js runs. */
const TICKS_PER_SECOND = 100;
const MEMORY_TARGET_MIB = 65;

/** What a node agent costs that has nothing to do: memory without and with pods, and the CPU it takes with them. */
export const idle: Case = async ({ agent, world, sizes, signal, progress }) => {
  const { pid } = agent;
  const poll = createPoll({ intervalMs: POLL_MS, signal });
  const names = Array.from({ length: sizes.idlePods }, (_, index) => `idle-${index}`);
  const measures: Measure[] = [];
  const add = (name: string, unit: Unit, value: number, target?: Target) => {
    measures.push({ case: "idle", name, unit, summary: summarize([value]), ...(target && { target }) });
  };
  progress("no pods");
  await delay(SETTLE_MS, undefined, { signal });
  const empty = await readMemory(pid);
  progress(`starting ${names.length} pods`);
  for (const name of names) await agent.write(sleepingPod(name));
  await seePods(agent, poll, { names, what: "Running", fits: isRunning });
  await delay(SETTLE_MS, undefined, { signal });
  progress(`${sizes.idleSeconds} s with ${names.length} pods`);
  const callsBefore = readRuntimeCalls(await agent.metrics()).count;
  const [begun, ticks] = [performance.now(), await readCpuTicks(pid)];
  await delay(sizes.idleSeconds * 1_000, undefined, { signal });
  const busySeconds = ((await readCpuTicks(pid)) - ticks) / TICKS_PER_SECOND;
  const share = (100 * busySeconds * 1_000) / (performance.now() - begun);
  const full = await readMemory(pid);
  add(`CPU, ${names.length} pods`, "% of a core", share, { of: "value", median: 0.2 });
  add(`runtime calls in ${sizes.idleSeconds} s`, "calls", readRuntimeCalls(await agent.metrics()).count - callsBefore);
  add("resident memory, no pods", "MiB", empty.residentMiB);
  add("proportional memory, no pods", "MiB", empty.proportionalMiB);
  add(`resident memory, ${names.length} pods`, "MiB", full.residentMiB, { of: "value", median: MEMORY_TARGET_MIB });
  add(`proportional memory, ${names.length} pods`, "MiB", full.proportionalMiB);
  progress("removing the pods");
  for (const name of names) await agent.remove(name);
  await seeNoSandbox(world.cri, poll);
  return measures;
};

async function readMemory(pid: number): Promise<{ residentMiB: number; proportionalMiB: number }> {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  const maps = await readFile(`/proc/${pid}/smaps_rollup`, "utf8");
  return {
    residentMiB: Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]) / 1_024,
    proportionalMiB: Number(/^Pss:\s+(\d+) kB/m.exec(maps)?.[1]) / 1_024,
  };
}

/** In user and in kernel mode, all threads. */
async function readCpuTicks(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8");
  // The command is in parentheses and may hold blanks; the 12th and 13th field after it are the times.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return Number(fields[11]) + Number(fields[12]);
}
