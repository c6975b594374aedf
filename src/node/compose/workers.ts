import { SECOND } from "../../base/clock.ts";
import { createPodForgetter } from "../pods/loop/forget-pod.ts";
import { createPodDeparture } from "../pods/loop/pod-departure.ts";
import { createFailureEvents } from "../pods/podsync/failure-events.ts";
import { createPodSync } from "../pods/podsync/pod-sync.ts";
import { syncAllocated } from "../pods/resize/allocated-syncer.ts";
import { measureSyncer } from "../pods/workers/measured-syncer.ts";
import { createWorkerMetrics } from "../pods/workers/metrics.ts";
import type { PodSyncer } from "../pods/workers/pod-syncer.ts";
import { createPodWorkers, type PodWorkers } from "../pods/workers/pod-workers.ts";
import { traceSyncer } from "../pods/workers/traced-syncer.ts";
import type { NodeDeviceClaims } from "../resources/device-claims/node-device-claims.ts";
import type { DeviceParts } from "./devices.ts";
import type { Foundation } from "./foundation.ts";
import type { ProbeParts } from "./probes.ts";
import type { ReadingParts } from "./readings.ts";
import type { Reporting } from "./reporting.ts";
import type { RuntimeParts } from "./runtime.ts";
import type { SourceParts } from "./sources.ts";

/** The time after a sync that failed. */
const SYNC_BACK_OFF_MS = 10 * SECOND;

interface WorkerNeighbours {
  readonly sources: SourceParts;
  readonly devices: DeviceParts;
  readonly deviceClaims: NodeDeviceClaims | undefined;
  readonly readings: ReadingParts;
  readonly runtime: RuntimeParts;
  readonly probes: ProbeParts;
  readonly reporting: Reporting;
}

/** The pods: how one is synced, and a worker for each. */
export function composeWorkers(foundation: Foundation, neighbours: WorkerNeighbours): PodWorkers {
  const { ports, config, timeline, inbox, statuses } = foundation;
  const { sources, readings, probes, reporting } = neighbours;
  const { log, metrics } = ports;
  const { clock, random } = ports.host;
  return createPodWorkers(
    {
      clock,
      random,
      log,
      syncer: measureSyncer(traceSyncer(composeSyncer(foundation, neighbours), ports.tracing), { clock, metrics }),
      metrics: createWorkerMetrics(metrics),
      onGone: createPodDeparture({
        onFinished: reporting.finished,
        wanted: sources.desired.byUid,
        forgetStatus: statuses.remove,
        forget: createPodForgetter([readings.cache, probes.probes]),
        inbox,
      }),
      onFailure: createFailureEvents({ timeline }),
    },
    { resyncMs: config.kubelet.syncFrequency, backOffMs: SYNC_BACK_OFF_MS },
  );
}

function composeSyncer(
  { ports, timeline, facts, statuses }: Foundation,
  { devices, deviceClaims, readings, runtime, probes }: WorkerNeighbours,
): PodSyncer {
  const { health, cache, pleg } = readings;
  const { podFiles } = runtime;
  const { resources } = runtime;
  const syncer = createPodSync({
    clock: ports.host.clock,
    timeline,
    runtime: runtime.pods,
    cache,
    refresh: async (pod, items) => await pleg.refresh(pod, items),
    statuses,
    probes: probes.probes,
    cgroups: runtime.cgroups.pods,
    volumes: runtime.volumes.volumes,
    directories: { make: podFiles.makeDirectories, remove: podFiles.removeDirectories },
    networkError: health.networkError,
    hostIps: () => facts.hostIps,
    runtimeName: () => health.runtime().name || "containerd",
    supportsRecursiveReadOnly: runtime.handlers.supportsRecursiveReadOnlyOf,
    deviceClaims,
    resourceHealth: [devices.healthOf, deviceClaims?.healthOf],
    resizes: resources.reports,
  });
  return syncAllocated(syncer, resources.allocate);
}
