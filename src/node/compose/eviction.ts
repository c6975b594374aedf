import { createHangGuard } from "../../base/hang-guard.ts";
import type { Part } from "../../base/run-parts.ts";
import type { Decision, Timeline } from "../../base/timeline.ts";
import { parseEvictionThresholds } from "../../config/eviction-thresholds.ts";
import type { NodeAgentConfig } from "../../config/node-agent-config.ts";
import type { Cgroups } from "../../host/cgroups-port.ts";
import type { PodWorkers } from "../pods/workers/pod-workers.ts";
import type { PodRuntimeStatus } from "../runtime/reading/pod-runtime-status.ts";
import { createDiskLayoutReader, type DiskLayoutReader } from "../upkeep/eviction/disk-layout.ts";
import { createPodEvictor, type PodEvictor } from "../upkeep/eviction/evict-pod.ts";
import { createLocalStorageEviction } from "../upkeep/eviction/local-storage-eviction.ts";
import { createPodStorageMeter } from "../upkeep/eviction/measure-pod-storage.ts";
import { createPressureEviction } from "../upkeep/eviction/pressure-eviction.ts";
import type { PressureNotice } from "../upkeep/eviction/pressure-notice.ts";
import { createCandidateReader } from "../upkeep/eviction/read-candidates.ts";
import { type AllocatableMemory, createSignalReader } from "../upkeep/eviction/read-signals.ts";
import { createNodeReclaim } from "../upkeep/eviction/reclaim-node.ts";
import { createUsageReader } from "../upkeep/eviction/usage-reader.ts";
import type { ImageCollectionParts } from "./image-collection.ts";
import type { NodeAgentPorts } from "./node-agent-ports.ts";
import type { RuntimeParts } from "./runtime.ts";
import type { StatsParts } from "./stats.ts";

interface EvictionPartsDeps {
  ports: NodeAgentPorts;
  timeline: Timeline;
  workers: PodWorkers;
  runtime: Pick<RuntimeParts, "cache" | "cgroups" | "pleg" | "runtime">;
  stats: StatsParts["stats"];
  images: ImageCollectionParts["collection"];
  /** Told what the node is short of. */
  pressure: Pick<PressureNotice, "set">;
  /** Undefined without an API server: then the log alone tells. */
  reporting: { recordNodeEvent(decision: Decision): void } | undefined;
}

/** Both kinds of eviction have these in common. */
interface CommonParts {
  readonly layout: DiskLayoutReader;
  readonly evict: PodEvictor;
  /** By UID, of containers that run. */
  runningContainers(podUid: string): PodRuntimeStatus["containers"];
}

/** Of these measurements, so many may hang, each of which costs all of us a place; see `composeVolumes`. */
const HUNG_SHARE = 8;

/** Who holds pods to their limits of the node's disk, and who keeps the node from running out of what they share. */
export function composeEviction(deps: EvictionPartsDeps, config: NodeAgentConfig): readonly Part[] {
  const { ports, timeline, workers, runtime } = deps;
  const { host, cri, log, metrics } = ports;
  const common: CommonParts = {
    layout: createDiskLayoutReader({ images: cri.images, files: host.files }, config),
    evict: createPodEvictor({ workers, timeline, metrics, log }),
    runningContainers: (podUid) =>
      (runtime.cache.latest(podUid)?.containers ?? []).filter(({ state }) => state === "running"),
  };
  return [...composeLocalStorage(deps, common, config), ...composePressure(deps, common, config)];
}

function composeLocalStorage(
  { ports, timeline, workers }: EvictionPartsDeps,
  { layout, evict, runningContainers }: CommonParts,
  { kubelet, rootDirectory, podLogsDirectory }: NodeAgentConfig,
): Part[] {
  if (kubelet.localStorageCapacityIsolation === false) return [];
  const { host, cri, log } = ports;
  const { clock, random, files } = host;
  const usage = createUsageReader({ files, guard: createOwnGuard(ports) });
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
    imageFs: { read: async (signal) => (await layout.read(signal)).isDedicated },
    evict,
  });
  return [{ name: "limits of local storage", run: localStorage.run }];
}

/** The thresholds were validated with the configuration; without any there is nothing to look at. */
function composePressure(deps: EvictionPartsDeps, common: CommonParts, { kubelet }: NodeAgentConfig): Part[] {
  const { thresholds } = parseEvictionThresholds(kubelet);
  if (thresholds.length === 0) return [];
  const { ports, timeline, workers, runtime, reporting } = deps;
  const { host, log, metrics } = ports;
  const { clock, cgroups, machine, proc } = host;
  const { layout, evict, runningContainers } = common;
  const readAllocatableMemory = async () => await readMemoryOfPods(cgroups, runtime.cgroups.pathOfAllPods());
  const guard = createOwnGuard(ports);
  const pressure = createPressureEviction(
    {
      clock,
      log,
      metrics,
      timeline,
      signals: createSignalReader({ clock, log, cgroups, machine, proc, guard, readAllocatableMemory }),
      layout,
      candidates: createCandidateReader({
        clock,
        workers,
        stats: deps.stats,
        runsContainers: (uid) => runningContainers(uid).length > 0,
      }),
      nodeReclaim: createNodeReclaim({
        clock,
        log,
        workers,
        latest: runtime.cache.latest,
        removeFromRuntime: async (pod, signal) => await removeFromRuntime(deps, pod, signal),
        freeImages: deps.images.freeImages,
      }),
      evict,
      notice: deps.pressure,
      workers,
      recordNodeEvent: (decision) => reporting?.recordNodeEvent(decision),
    },
    {
      thresholds,
      transitionPeriodMs: kubelet.evictionPressureTransitionPeriod,
      maxPodGracePeriodSeconds: kubelet.evictionMaxPodGracePeriod,
    },
  );
  return [{ name: "eviction", run: pressure.run }];
}

/** Undefined where pods have no cgroup in common, or no limit together. */
async function readMemoryOfPods(
  cgroups: Pick<Cgroups, "read">,
  path: string | undefined,
): Promise<AllocatableMemory | undefined> {
  const memory = path === undefined ? undefined : (await cgroups.read(path))?.memory;
  return memory?.limit === undefined ? undefined : { limit: memory.limit, workingSet: memory.workingSet };
}

/** As the pod's worker does it: what was known of the pod before is out of date. */
async function removeFromRuntime(
  { workers, runtime: { cache, pleg, runtime } }: EvictionPartsDeps,
  pod: PodRuntimeStatus,
  signal: AbortSignal,
): Promise<void> {
  cache.invalidate(pod.uid);
  try {
    await runtime.remove(pod, signal);
  } finally {
    // Of a pod that was deleted meanwhile nothing is to be remembered.
    if (workers.state(pod.uid) !== undefined) {
      cache.invalidate(pod.uid);
      await pleg.refresh(pod);
    }
  }
}

/** One for each kind: whatever hangs the one must not hold up the other. */
function createOwnGuard({ host }: NodeAgentPorts): ReturnType<typeof createHangGuard> {
  const maxHung = Math.max(1, Math.floor(host.machine.fileAccessPlaces() / HUNG_SHARE));
  return createHangGuard({ clock: host.clock, maxHung });
}
