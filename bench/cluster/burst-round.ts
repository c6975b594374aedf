import { setTimeout as delay } from "node:timers/promises";
import { createLimiter } from "../../src/base/limiter.ts";
import { MAX_PARALLEL_STARTS } from "../../src/node/runtime/pod-runtime/start-line.ts";
import { readCpuMs } from "../control-plane/server-process.ts";
import type { FloorPod } from "../floor.ts";
import type { Manifest } from "../workload.ts";
import type { ClusterCaseContext } from "./cluster-case.ts";
import { createPodOn, deletePod, showsGone, showsRunning } from "./pods.ts";
import type { Runner } from "./turns.ts";

const PAUSE_MS = 2_000;

/** Many pods that were started at once, and ended at once. */
export interface Round {
  /** Times of every pod. */
  startsMs: number[];
  stopsMs: number[];
  /** Processor time of the node agent and of the API server, from the first call to the last pod gone. */
  agentCpuMs: number;
  serverCpuMs: number;
}

/** As many starts at a time as nodelet makes; all stops at once. */
export async function runFloorRound({ floor }: ClusterCaseContext, manifests: readonly Manifest[]): Promise<Round> {
  const prepared = await Promise.all(manifests.map(async (manifest) => await floor.prepare(manifest)));
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

/** Creates them all at once, and then deletes them. */
export async function runNodeRound(
  { api, signal }: ClusterCaseContext,
  { program, process }: Runner,
  manifests: readonly Manifest[],
): Promise<Round> {
  const names = manifests.map(({ metadata }) => metadata.name);
  // After a long pause the node agent has connections to open anew.
  await delay(PAUSE_MS);
  const call = async (seen: Promise<ReadonlyMap<string, number>>, make: (manifest: Manifest) => Promise<number>) => {
    const calledAt = await Promise.all(manifests.map(make));
    const seenAt = await seen;
    return names.map((name, index) => (seenAt.get(name) ?? 0) - (calledAt[index] ?? 0));
  };
  const cpuMs = [await readCpuMs([process.pid]), await api.readCpuMs()] as const;
  const running = api.pods.until({ names, what: "Running", fits: showsRunning, signal });
  const startsMs = await call(
    running,
    async (manifest) => await createPodOn(api.connection, program.nodeName, manifest),
  );
  await delay(PAUSE_MS);
  const gone = api.pods.until({ names, what: "gone", fits: showsGone, signal });
  const stopsMs = await call(gone, async ({ metadata }) => await deletePod(api.connection, metadata.name));
  await delay(PAUSE_MS);
  const agentCpuMs = (await readCpuMs([process.pid])) - cpuMs[0];
  return { startsMs, stopsMs, agentCpuMs, serverCpuMs: (await api.readCpuMs()) - cpuMs[1] };
}
