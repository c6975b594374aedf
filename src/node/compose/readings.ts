import type { Part } from "../../base/run-parts.ts";
import { followRuntimeEvents } from "../pods/pleg/follow-events.ts";
import { countEventStreams } from "../pods/pleg/metrics.ts";
import { createPleg, type Pleg } from "../pods/pleg/pleg.ts";
import { createPodCache, type PodCache } from "../pods/pleg/pod-cache.ts";
import { createRunningContainers, type RunningContainers } from "../pods/pleg/running-containers.ts";
import { createRuntimeErrors, type RuntimeErrors } from "../pods/pleg/runtime-errors.ts";
import { type ContainerChanges, createContainerChanges } from "../runtime/logs/container-changes.ts";
import { listRuntimePods, readPodItems, readPodRuntimeStatus } from "../runtime/reading/read-pods.ts";
import { createRuntimeHealth, type RuntimeHealth } from "../runtime/reading/runtime-health.ts";
import type { Foundation } from "./foundation.ts";

/** What is known of the runtime: its health, and what it holds. */
export interface ReadingParts extends RuntimeErrors {
  readonly health: RuntimeHealth;
  readonly cache: PodCache;
  readonly pleg: Pleg;
  readonly running: RunningContainers;
  /** What PLEG sees, for those who wait for one container. */
  readonly containerChanges: ContainerChanges;
  readonly parts: readonly Part[];
}

/** Builds everything that looks at the runtime; what it notices goes to the inbox. */
export function composeReadings({ ports, config, inbox }: Foundation): ReadingParts {
  const { host, cri, log, metrics } = ports;
  const { clock } = host;
  const imageMounts = config.featureGates["ImageVolumeWithDigest"] ? { images: cri.images, log } : undefined;
  const reading = { runtime: cri.runtime, host, imageMounts };
  const health = createRuntimeHealth({ runtime: cri.runtime, clock, log });
  const cache = createPodCache(clock.now);
  const containerChanges = createContainerChanges();
  const pleg = createPleg({
    clock,
    log,
    metrics,
    cache,
    listPods: async (signal) => await listRuntimePods(cri.runtime, signal),
    readPodStatus: async ({ pod, items }, signal) =>
      items === undefined
        ? await readPodRuntimeStatus(reading, pod, signal)
        : await readPodItems(reading, { pod, items }, signal),
    onEvent(event) {
      inbox.offerLifecycleEvent(event);
      containerChanges.tell(event.id);
    },
  });
  pleg.subscribe(inbox.offerRelisted);
  const listening = countEventStreams(pleg, metrics);
  return {
    ...createRuntimeErrors({ health, pleg }),
    health,
    cache,
    pleg,
    running: createRunningContainers({ cache, pleg }),
    containerChanges,
    parts: [
      { name: "runtime health", run: health.run },
      { name: "PLEG", run: pleg.run },
      { name: "runtime events", run: async (signal) => await followRuntimeEvents(ports.events, listening, signal) },
    ],
  };
}
