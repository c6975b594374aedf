import { podReference } from "../../api/pods.ts";
import { createHangGuard } from "../../base/hang-guard.ts";
import type { Part } from "../../base/run-parts.ts";
import type { Timeline } from "../../base/timeline.ts";
import type { NodeAgentConfig } from "../../config/node-agent-config.ts";
import type { CsiPlugin } from "../storage/volumes/csi/csi-plugin.ts";
import { createStorageOperations, measurePlugin } from "../storage/volumes/stats/measure-plugin.ts";
import { createNodeVolumes, type NodeVolumes } from "../storage/volumes/stats/node-volumes.ts";
import { createCollectionDurations, createVolumeGauges } from "../storage/volumes/stats/volume-gauges.ts";
import { createVolumeStats, type PodVolumeStats } from "../storage/volumes/stats/volume-stats.ts";
import type { VolumePlugin } from "../storage/volumes/volume-plugin.ts";
import type { NodeAgentPorts } from "./node-agent-ports.ts";

/** What is told of volumes: how many there are, how full they are, and what they cost. */
export interface VolumeStatsParts {
  /** Brings the gauges up to date; for when the page of metrics is made. */
  setGauges(): void;
  /** The plugin, with all that it does observed. */
  observe(plugin: VolumePlugin): VolumePlugin;
  /** Which volumes pods have, and how full those of their claims were found last. */
  volumes: Pick<NodeVolumes, "ofPod">;
  reports(): Iterable<PodVolumeStats>;
  part: Part;
}

interface VolumeStatsPartsDeps {
  ports: NodeAgentPorts;
  timeline: Timeline;
  csi: CsiPlugin | undefined;
}

/** Of these statistics, so many reads may hang, each of which costs all of us a place; see `composeVolumes`. */
const HUNG_SHARE = 8;

/** Builds it for all the plugins; `csi` is asked for the volumes of storage drivers. */
export function composeVolumeStats(
  { ports, timeline, csi }: VolumeStatsPartsDeps,
  { kubelet }: NodeAgentConfig,
): VolumeStatsParts {
  const { metrics, log } = ports;
  const { clock, random, machine } = ports.host;
  const volumes = createNodeVolumes();
  const operations = createStorageOperations(metrics);
  const maxHung = Math.max(1, Math.floor(machine.fileAccessPlaces() / HUNG_SHARE));
  const stats = createVolumeStats(
    {
      clock,
      random,
      log,
      volumes,
      csi,
      machine,
      guard: createHangGuard({ clock, maxHung }),
      durations: createCollectionDurations(metrics),
      onEvent: (pod, event) => timeline.record(podReference(pod), event),
    },
    { periodMs: kubelet.volumeStatsAggPeriod },
  );
  return {
    setGauges: createVolumeGauges({ metrics, volumes, stats }),
    observe: (plugin) => measurePlugin(plugin, { clock, operations, volumes }),
    volumes,
    reports: stats.read,
    part: { name: "volume statistics", run: stats.run },
  };
}
