import type { Part } from "../../base/run-parts.ts";
import { parseEvictionThresholds } from "../../config/eviction-thresholds.ts";
import type { PodWorkers } from "../pods/workers/pod-workers.ts";
import { readAllocatableMemory } from "../upkeep/eviction/allocatable-memory.ts";
import { createDiskLayoutReader, type DiskLayoutReader } from "../upkeep/eviction/disk-layout.ts";
import { createPodEvictor, type PodEvictor } from "../upkeep/eviction/evict-pod.ts";
import { createFileUsageReader } from "../upkeep/eviction/file-usage.ts";
import { createLocalStorageEviction } from "../upkeep/eviction/local-storage-eviction.ts";
import { createPodStorageMeter } from "../upkeep/eviction/measure-pod-storage.ts";
import { createMemoryAlarm } from "../upkeep/eviction/memory-alarm.ts";
import { createPressureEviction } from "../upkeep/eviction/pressure-eviction.ts";
import { createCandidateReader } from "../upkeep/eviction/read-candidates.ts";
import { createSignalReader, type SignalReader } from "../upkeep/eviction/read-signals.ts";
import { createNodeReclaim, type NodeReclaim } from "../upkeep/eviction/reclaim-node.ts";
import { createRuntimeRemover } from "../upkeep/eviction/remove-from-runtime.ts";
import type { Foundation } from "./foundation.ts";
import type { ImageCollectionParts } from "./image-collection.ts";
import type { ReadingParts } from "./readings.ts";
import type { Reporting } from "./reporting.ts";
import type { RuntimeParts } from "./runtime.ts";
import type { StatsParts } from "./stats.ts";

interface EvictionNeighbours {
  readonly readings: ReadingParts;
  readonly runtime: RuntimeParts;
  readonly workers: PodWorkers;
  readonly stats: StatsParts;
  readonly images: ImageCollectionParts;
  readonly reporting: Reporting;
}

/** What both kinds of eviction need. */
interface EvictionTools {
  readonly layout: DiskLayoutReader;
  readonly evict: PodEvictor;
}

/** Holds pods to their limits of the node's disk, and keeps the node from running out of what pods share. */
export function composeEviction(foundation: Foundation, neighbours: EvictionNeighbours): readonly Part[] {
  const { ports, config, timeline } = foundation;
  const { host, cri, log, metrics } = ports;
  const tools = {
    layout: createDiskLayoutReader(
      { log, images: cri.images, files: host.files },
      { rootDirectory: config.rootDirectory, mayBeSplit: config.featureGates.KubeletSeparateDiskGC },
    ),
    evict: createPodEvictor({ workers: neighbours.workers, timeline, metrics, log }),
  };
  return [
    ...composeLocalStorageEviction(foundation, neighbours, tools),
    ...composePressureEviction(foundation, neighbours, tools),
  ];
}

function composeLocalStorageEviction(
  { ports, config, timeline, guards }: Foundation,
  { readings, workers }: EvictionNeighbours,
  { layout, evict }: EvictionTools,
): Part[] {
  const { kubelet, rootDirectory, podLogsDirectory } = config;
  if (kubelet.localStorageCapacityIsolation === false) return [];
  const { host, cri, log } = ports;
  const { clock, random, files } = host;
  const usage = createFileUsageReader({ files, guard: guards.forMeasurement() });
  const meterDeps = { usage, runtime: cri.runtime, runningContainers: readings.running.ofPod, log };
  const localStorage = createLocalStorageEviction({
    clock,
    random,
    log,
    timeline,
    workers,
    createMeter: () => createPodStorageMeter(meterDeps, { rootDirectory, podLogsDirectory }),
    imageFs: { read: async (signal) => (await layout.read(signal)).isDedicated },
    evict,
  });
  return [{ name: "limits of local storage", run: localStorage.run }];
}

/** The thresholds were validated with the configuration; without any there is nothing to look at. */
function composePressureEviction(
  foundation: Foundation,
  neighbours: EvictionNeighbours,
  { layout, evict }: EvictionTools,
): Part[] {
  const { ports, config, timeline, pressure } = foundation;
  const { readings, workers, stats, reporting } = neighbours;
  const { kubelet } = config;
  const { thresholds } = parseEvictionThresholds(kubelet);
  if (thresholds.length === 0) return [];
  const { host, log, metrics } = ports;
  const { clock } = host;
  const { runsContainers } = readings.running;
  const { pathOfAllPods } = neighbours.runtime.cgroups;
  const alarm = kubelet.kernelMemcgNotification
    ? createMemoryAlarm({ clock, log, cgroups: host.cgroups, pathOfAllPods }, thresholds)
    : undefined;
  const eviction = createPressureEviction(
    {
      clock,
      log,
      metrics,
      timeline,
      signals: composeSignalReader(foundation, neighbours),
      layout,
      candidates: createCandidateReader({ clock, workers, stats: stats.stats, runsContainers }),
      nodeReclaim: composeNodeReclaim(foundation, neighbours),
      evict,
      notice: pressure,
      workers,
      recordNodeEvent: reporting.recordNodeEvent,
      alarm,
    },
    {
      thresholds,
      transitionPeriodMs: kubelet.evictionPressureTransitionPeriod,
      maxPodGracePeriodSeconds: kubelet.evictionMaxPodGracePeriod,
    },
  );
  const parts: Part[] = [{ name: "eviction", run: eviction.run }];
  if (alarm !== undefined) parts.push({ name: "notifications about memory", run: alarm.run });
  return parts;
}

function composeSignalReader({ ports, guards }: Foundation, { runtime }: EvictionNeighbours): SignalReader {
  const { host, log } = ports;
  const { clock, cgroups, machine, proc } = host;
  return createSignalReader({
    clock,
    log,
    cgroups,
    machine,
    proc,
    guard: guards.forMeasurement(),
    readAllocatableMemory: async () => await readAllocatableMemory(cgroups, runtime.cgroups.pathOfAllPods()),
  });
}

function composeNodeReclaim({ ports }: Foundation, neighbours: EvictionNeighbours): NodeReclaim {
  const { readings, runtime, workers, images } = neighbours;
  const { cache, pleg } = readings;
  return createNodeReclaim({
    clock: ports.host.clock,
    log: ports.log,
    workers,
    latest: cache.latest,
    removeFromRuntime: createRuntimeRemover({ cache, pleg, pods: runtime.pods, workers }),
    freeImages: images.collection.freeImages,
  });
}
