import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { findProgram } from "../../src/cluster/containerd/machine-facts.ts";
import { removePods } from "../growth/grown-pods.ts";
import type { Measure } from "../measure.ts";
import { summarize } from "../stats.ts";
import { sleepingPod } from "../workload.ts";
import type { ClusterCase, ClusterCaseContext } from "./cluster-case.ts";
import type { NodeProcess, NodeProgram } from "./node-program.ts";
import { createPodOn, showsRunning } from "./pods.ts";
import { clearRuntime, runAlone } from "./turns.ts";

/** Calls that name a file, and those that are slow on an open one. */
const TRACED = "trace=%file,fsync,fdatasync,getdents64,ftruncate,fchmod,fchown,flock";
const ATTACH_MS = 500;
const SETTLE_MS = 500;

/** What a pod's start asks of the file system, counted by strace. Times mean nothing under it, so none are told. */
export const clusterFiles: ClusterCase = async (context) => {
  const [program] = context.programs;
  if (program === undefined) return [];
  const strace = await findProgram("strace");
  if (strace === undefined) {
    context.progress("strace is not installed");
    return [];
  }
  return await runAlone(program, async (agent) => {
    const counts: Array<ReadonlyMap<string, number>> = [];
    for (let pod = -1; pod < context.sizes.tracedPods; pod++) {
      context.progress(`pod ${pod + 2} of ${context.sizes.tracedPods + 1}`);
      const counted = await traceStart(context, { program, agent, strace, name: `traced-${pod + 1}` });
      // The first opens what all others use.
      if (pod >= 0) counts.push(counted);
    }
    await clearRuntime(context);
    return describe(counts);
  });
};

interface Traced {
  program: NodeProgram;
  agent: NodeProcess;
  strace: string;
  name: string;
}

async function traceStart(
  context: ClusterCaseContext,
  { program, agent, strace, name }: Traced,
): Promise<ReadonlyMap<string, number>> {
  const { api, signal, world } = context;
  const output = join(world.directory, "strace.txt");
  const tracer = spawn(strace, ["-f", "-qq", "-c", "-e", TRACED, "-o", output, "-p", `${agent.pid}`], {
    stdio: "ignore",
    detached: true,
  });
  const exited = once(tracer, "exit");
  try {
    await delay(ATTACH_MS, undefined, { signal });
    const running = api.pods.until({ names: [name], what: "Running", fits: showsRunning, signal });
    await createPodOn(api.connection, program.nodeName, sleepingPod(name));
    await running;
    await delay(SETTLE_MS, undefined, { signal });
  } finally {
    // It writes what it counted, and lets the agent go.
    tracer.kill("SIGINT");
    await exited;
  }
  const counts = parseCounts(await readFile(output, "utf8"));
  await rm(output, { force: true });
  await removePods(context, [name]);
  return counts;
}

/** Rows of `strace -c`: share, seconds, microseconds a call, calls, perhaps errors, name. */
export function parseCounts(table: string): Map<string, number> {
  const rows = table.matchAll(/^ *[\d.]+ +[\d.]+ +\d+ +(\d+)(?: +\d+)? +([a-z]\w*)$/gm);
  return new Map(
    [...rows].filter(([, , name]) => name !== "total").map(([, calls, name = ""]) => [name, Number(calls)]),
  );
}

function describe(counts: ReadonlyArray<ReadonlyMap<string, number>>): Measure[] {
  const of = (name: string, values: readonly number[]): Measure => {
    return { case: "cluster-files", name, unit: "calls", summary: summarize(values) };
  };
  const names = [...new Set(counts.flatMap((counted) => [...counted.keys()]))].sort();
  const sum = (counted: ReadonlyMap<string, number>) => [...counted.values()].reduce((all, calls) => all + calls, 0);
  return [
    of("file system calls of a start", counts.map(sum)),
    ...names.map((name) =>
      of(
        `file system calls, ${name}`,
        counts.map((counted) => counted.get(name) ?? 0),
      ),
    ),
  ];
}
