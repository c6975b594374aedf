import { createHangGuard } from "../base/hang-guard.ts";
import type { Timeline } from "../base/timeline.ts";
import type { NodeAgentConfig } from "../config/node-agent-config.ts";
import { createDedicatedImageFs } from "./eviction/dedicated-image-fs.ts";
import { createPodEvictor } from "./eviction/evict-pod.ts";
import { createLocalStorageEviction } from "./eviction/local-storage-eviction.ts";
import { createPodStorageMeter } from "./eviction/measure-pod-storage.ts";
import { createUsageReader } from "./eviction/usage-reader.ts";
import type { NodeAgentPorts, Part } from "./node-agent-ports.ts";
import type { PodCache } from "./pleg/pod-cache.ts";
import type { PodWorkers } from "./workers/pod-workers.ts";

export interface EvictionPartsDeps {
  ports: NodeAgentPorts;
  timeline: Timeline;
  workers: PodWorkers;
  cache: Pick<PodCache, "latest">;
}

/** Of these measurements, so many may hang, each of which costs all of us a place; see `composeVolumes`. */
const HUNG_SHARE = 8;

/** Who holds pods to their limits of the node's disk. */
export function composeEviction(
  { ports, timeline, workers, cache }: EvictionPartsDeps,
  { kubelet, rootDirectory, podLogsDirectory }: NodeAgentConfig,
): readonly Part[] {
  if (kubelet.localStorageCapacityIsolation === false) return [];
  const { host, cri, log, metrics } = ports;
  const { clock, random, files, machine } = host;
  const maxHung = Math.max(1, Math.floor(machine.fileAccessPlaces() / HUNG_SHARE));
  const usage = createUsageReader({ files, guard: createHangGuard({ clock, maxHung }) });
  const runningContainers = (podUid: string) =>
    (cache.latest(podUid)?.containers ?? []).filter(({ state }) => state === "running");
  const localStorage = createLocalStorageEviction({
    clock,
    random,
    log,
    timeline,
    workers,
    createMeter: () =>
      createPodStorageMeter(
        { usage, runtime: cri.runtime, runningContainers, log },
        { rootDirectory, podLogsDirectory },
      ),
    imageFs: createDedicatedImageFs({ images: cri.images, files }, { rootDirectory }),
    evict: createPodEvictor({ workers, timeline, metrics, log }),
  });
  return [{ name: "limits of local storage", run: localStorage.run }];
}
