import { setTimeout as delay } from "node:timers/promises";
import { readCpuMs } from "../control-plane/server-process.ts";
import { removePods, startPods } from "../growth/grown-pods.ts";
import type { Measure, Unit } from "../measure.ts";
import { readRuntimeCalls } from "../runtime-calls.ts";
import { sleepingPod } from "../workload.ts";
import { type ClusterCase, type ClusterCaseContext, compareNodes } from "./cluster-case.ts";
import type { NodeProcess, NodeProgram } from "./node-program.ts";
import { clearRuntime } from "./turns.ts";

const SETTLE_MS = 3_000;
/**
 * Between two looks. A look costs some milliseconds of the thread that is measured, and what comes of it is late by as
 * much as this at most.
 */
const POLL_MS = 50;
const TIMEOUT_MS = 60_000;
const TARGET = { of: "value", median: 300 } as const;

/** What one restart took. */
interface Restart {
  syncedMs: number;
  /** What the new process used until then. */
  cpuMs: number;
  runtimeCalls: number;
}

/** A node agent with pods is killed and started again: how long until it has synced each of them once. */
export const clusterRestart: ClusterCase = async (context) => {
  const { programs, sizes } = context;
  const restarts: Restart[][] = [];
  for (const program of programs) restarts.push(await restartAmongPods(context, program));
  const title = `killed and started again → ${sizes.restartPods} running pods synced`;
  const of = (name: string, unit: Unit, pick: (restart: Restart) => number): Measure =>
    compareNodes(context, { case: "cluster-restart", name, unit, values: restarts.map((some) => some.map(pick)) });
  return [
    { ...of(title, "ms", ({ syncedMs }) => syncedMs), target: TARGET },
    of("CPU of the node agent until then", "ms", ({ cpuMs }) => cpuMs),
    of("runtime calls until then", "calls", ({ runtimeCalls }) => runtimeCalls),
  ];
};

async function restartAmongPods(context: ClusterCaseContext, program: NodeProgram): Promise<Restart[]> {
  const { sizes, signal } = context;
  const progress = (text: string) => context.progress(`${program.name}, ${text}`);
  const names = Array.from({ length: sizes.restartPods }, (_, index) => `restart-${index}`);
  const restarts: Restart[] = [];
  let process = await program.start();
  try {
    progress(`starting ${names.length} pods`);
    await startPods(context, program, names.map(sleepingPod));
    for (let restart = 1; restart <= sizes.restarts; restart++) {
      progress(`restart ${restart} of ${sizes.restarts}`);
      await delay(SETTLE_MS, undefined, { signal });
      await process.kill();
      const startedAt = performance.now();
      process = await program.start({ rejoins: true });
      const { seenAt, metrics } = await untilSynced(context, process, names.length);
      const cpuMs = await readCpuMs([process.pid]);
      restarts.push({ syncedMs: seenAt - startedAt, cpuMs, runtimeCalls: readRuntimeCalls(metrics).count });
    }
    await delay(SETTLE_MS, undefined, { signal });
    progress("removing the pods");
    await removePods(context, names);
  } finally {
    await process.stop();
    await clearRuntime(context);
  }
  return restarts;
}

/**
 * Until as many syncs have ended as there are pods. Whether a pod's first counts as `create` depends on whether an update
 * came before it, in the Go kubelet at least.
 */
async function untilSynced(
  { signal }: ClusterCaseContext,
  process: NodeProcess,
  pods: number,
): Promise<{ seenAt: number; metrics: string }> {
  const deadline = performance.now() + TIMEOUT_MS;
  for (;;) {
    const metrics = await process.metrics().catch(() => "");
    const seenAt = performance.now();
    const series = /^kubelet_pod_worker_duration_seconds_count\{operation_type="(?:create|update|sync)"\} (\d+)/gm;
    const syncs = [...metrics.matchAll(series)].reduce((sum, [, count]) => sum + Number(count), 0);
    if (syncs >= pods) return { seenAt, metrics };
    if (seenAt > deadline) throw new Error(`${pods} pods were not synced in ${TIMEOUT_MS / 1_000} s`);
    await delay(POLL_MS, undefined, { signal });
  }
}
