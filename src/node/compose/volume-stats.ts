import type { Part } from "../../base/run-parts.ts";
import { createPodRecorder } from "../cluster/events/record-pod.ts";
import type { CsiPlugin } from "../storage/volumes/csi/csi-plugin.ts";
import { createStorageOperations, measurePlugin } from "../storage/volumes/stats/measure-plugin.ts";
import { createNodeVolumes, type NodeVolumes } from "../storage/volumes/stats/node-volumes.ts";
import { createCollectionDurations, createVolumeGauges } from "../storage/volumes/stats/volume-gauges.ts";
import { createVolumeStats, type PodVolumeStats } from "../storage/volumes/stats/volume-stats.ts";
import type { VolumePlugin } from "../storage/volumes/volume-plugin.ts";
import type { Foundation } from "./foundation.ts";

/** What is told of volumes: how many there are, how full they are, and what they cost. */
export interface VolumeStatsParts {
  /** Brings the gauges up to date, when the page of metrics is made. */
  setGauges(): void;
  /** The plugin, with all that it does observed. */
  observe(plugin: VolumePlugin): VolumePlugin;
  /** Which volumes pods have, and how full those of their claims were found last. */
  readonly volumes: Pick<NodeVolumes, "ofPod">;
  reports(): Iterable<PodVolumeStats>;
  readonly part: Part;
}

/** `csi`: asked for the volumes of storage drivers; undefined on a standalone node. */
export function composeVolumeStats(
  { ports, config, timeline, guards }: Foundation,
  csi: CsiPlugin | undefined,
): VolumeStatsParts {
  const { metrics, log } = ports;
  const { clock, random, machine } = ports.host;
  const volumes = createNodeVolumes();
  const operations = createStorageOperations(metrics);
  const stats = createVolumeStats(
    {
      clock,
      random,
      log,
      volumes,
      csi,
      machine,
      guard: guards.forMeasurement(),
      durations: createCollectionDurations(metrics),
      onEvent: createPodRecorder(timeline),
    },
    { periodMs: config.kubelet.volumeStatsAggPeriod },
  );
  return {
    setGauges: createVolumeGauges({ metrics, volumes, stats }),
    observe: (plugin) => measurePlugin(plugin, { clock, operations, volumes }),
    volumes,
    reports: stats.read,
    part: { name: "volume statistics", run: stats.run },
  };
}
