import { setTimeout as delay } from "node:timers/promises";
import { removePods, startPods } from "../growth/grown-pods.ts";
import { timed } from "../measure.ts";
import { sleepingPod } from "../workload.ts";
import type { ClusterCase, ClusterCaseContext } from "./cluster-case.ts";
import type { NodeProcess } from "./node-program.ts";
import { clearRuntime } from "./turns.ts";

const SETTLE_MS = 3_000;
const POLL_MS = 5;
const TIMEOUT_MS = 60_000;
const TARGET = { of: "value", median: 300 } as const;

/** A node agent with pods is killed and started again: how long until it has synced each of them once. */
export const clusterRestart: ClusterCase = async (context) => {
  const { sizes, signal, progress } = context;
  const [program] = context.programs;
  if (program === undefined) return [];
  const names = Array.from({ length: sizes.restartPods }, (_, index) => `restart-${index}`);
  const times: number[] = [];
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
      await untilSynced(context, process, names.length);
      times.push(performance.now() - startedAt);
    }
    await delay(SETTLE_MS, undefined, { signal });
    progress("removing the pods");
    await removePods(context, names);
  } finally {
    await process.stop();
    await clearRuntime(context);
  }
  const name = `killed and started again → ${names.length} running pods synced`;
  return [timed({ case: "cluster-restart", name, target: TARGET }, times)];
};

/** Each pod's first sync counts as a creation, for the agent has not known it before. */
async function untilSynced({ signal }: ClusterCaseContext, { metrics }: NodeProcess, pods: number): Promise<void> {
  const deadline = performance.now() + TIMEOUT_MS;
  for (;;) {
    const text = (await metrics?.().catch(() => "")) ?? "";
    const series = /^kubelet_pod_worker_duration_seconds_count\{operation_type="create"\} (\d+)/m;
    if (Number(series.exec(text)?.[1] ?? 0) >= pods) return;
    if (performance.now() > deadline) throw new Error(`${pods} pods were not synced in ${TIMEOUT_MS / 1_000} s`);
    await delay(POLL_MS, undefined, { signal });
  }
}
