import type { Part } from "../../base/run-parts.ts";
import { listLivePods } from "../pods/workers/live-pods.ts";
import type { PodWorkers } from "../pods/workers/pod-workers.ts";
import type { NodeCpus } from "../resources/cpus/node-cpus.ts";
import type { NodeDeviceClaims } from "../resources/device-claims/node-device-claims.ts";
import type { NodeMemory } from "../resources/memory/node-memory.ts";
import { createPodUses } from "../resources/pod-resources/pod-uses.ts";
import { createPodResourcesPart } from "../resources/pod-resources/serve-pod-resources.ts";
import type { DeviceParts } from "./devices.ts";
import type { Foundation } from "./foundation.ts";

interface PodResourcesNeighbours {
  readonly cpus: NodeCpus | undefined;
  readonly memory: NodeMemory | undefined;
  readonly devices: DeviceParts;
  readonly deviceClaims: NodeDeviceClaims | undefined;
  readonly workers: PodWorkers;
}

/** The API by which monitoring agents learn which pod has which devices, CPUs and memory. */
export function composePodResources(
  { ports, config }: Foundation,
  { cpus, memory, devices, deviceClaims, workers }: PodResourcesNeighbours,
): Part {
  const { host, log, metrics, plugins } = ports;
  const { clock, files } = host;
  const activePods = () => listLivePods(workers.states());
  const source = createPodUses({ ...devices, cpus, memory, deviceClaims, activePods });
  const deps = { clock, files, log, metrics, serve: plugins.serve, source };
  return createPodResourcesPart(deps, `${config.rootDirectory}/pod-resources`);
}
