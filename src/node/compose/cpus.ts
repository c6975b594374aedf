import { podUid } from "../../api/pods.ts";
import type { Part } from "../../base/run-parts.ts";
import { listLivePods } from "../pods/workers/live-pods.ts";
import type { PodWorkers } from "../pods/workers/pod-workers.ts";
import { createCapacitySettings } from "../resources/capacity/capacity-settings.ts";
import { createCpuUpkeep } from "../resources/cpus/cpu-upkeep.ts";
import { createNodeCpus, type NodeCpus } from "../resources/cpus/node-cpus.ts";
import type { TopologyPolicy } from "../resources/topology/topology-policy.ts";
import type { AdmissionParts } from "./admission.ts";
import type { Foundation } from "./foundation.ts";
import type { ReadingParts } from "./readings.ts";

/** Undefined: all containers share all CPUs. Rejects where machine, configuration and checkpoint do not fit together. */
export async function composeCpus(
  { ports, config }: Foundation,
  topology: TopologyPolicy,
): Promise<NodeCpus | undefined> {
  const { host, metrics } = ports;
  const { reservations } = createCapacitySettings(config);
  const options = { settings: config.cpus, reservations, directory: config.rootDirectory };
  return await createNodeCpus({ files: host.files, metrics, alignment: topology.metrics }, options);
}

interface CpuNeighbours {
  readonly cpus: NodeCpus | undefined;
  readonly readings: ReadingParts;
  readonly workers: PodWorkers;
  readonly admission: Pick<AdmissionParts, "releaseStale">;
}

/** The part that keeps running containers on their CPUs; none where they share all. */
export function composeCpuUpkeep(
  { ports, config }: Foundation,
  { cpus, readings, workers, admission }: CpuNeighbours,
): readonly Part[] {
  if (cpus === undefined) return [];
  const { host, cri, log } = ports;
  const upkeep = createCpuUpkeep(
    {
      clock: host.clock,
      log,
      runtime: cri.runtime,
      cpus,
      releaseStale: admission.releaseStale,
      podUids: () => listLivePods(workers.states()).map(podUid),
      runningOf: readings.running.ofPod,
    },
    { periodMs: config.cpus.reconcileMs },
  );
  return [upkeep];
}
