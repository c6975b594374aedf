import type { GaugeSeries, HistogramSeries, Metrics } from "../../../../base/metrics.ts";
import { metricPluginName, type NodeVolumes } from "./node-volumes.ts";
import type { VolumeReport, VolumeStats } from "./volume-stats.ts";

interface VolumeGaugesDeps {
  readonly metrics: Metrics;
  readonly volumes: Pick<NodeVolumes, "all">;
  readonly stats: Pick<VolumeStats, "read">;
}

type ClaimGauge = GaugeSeries<"namespace" | "persistentvolumeclaim">;

/** `kubelet_volume_metric_collection_duration_seconds`; its one label is a storage driver, or `statfs`. */
export function createCollectionDurations(metrics: Metrics): HistogramSeries<"metric_source"> {
  const help = "Duration in seconds to calculate volume stats";
  return metrics.histogram("kubelet_volume_metric_collection_duration_seconds", help, { labels: ["metric_source"] });
}

/** Declares the gauges about volumes. The returned function sets them, which is for when the page of metrics is made. */
export function createVolumeGauges({ metrics, volumes, stats }: VolumeGaugesDeps): () => void {
  const setClaims = declareClaimGauges(metrics, stats);
  const total = metrics.gauge("volume_manager_total_volumes", "Number of volumes in Volume Manager", [
    "plugin_name",
    "state",
  ]);
  return () => {
    setClaims();
    const desired = new Map<string, number>();
    const actual = new Map<string, number>();
    for (const volume of volumes.all()) {
      const pluginName = metricPluginName(volume);
      for (const counts of volume.ready ? [desired, actual] : [desired]) {
        counts.set(pluginName, (counts.get(pluginName) ?? 0) + 1);
      }
    }
    total.reset();
    for (const [state, counts] of Object.entries({ desired_state_of_world: desired, actual_state_of_world: actual })) {
      for (const [pluginName, count] of counts) total.set(count, { plugin_name: pluginName, state });
    }
  };
}

/** Follows pkg/kubelet/metrics/collectors/volume_stats.go: unknown numbers are 0, and an unknown health is left out. */
function declareClaimGauges(metrics: Metrics, stats: Pick<VolumeStats, "read">): () => void {
  const gauge = (name: string, help: string): ClaimGauge =>
    metrics.gauge(`kubelet_volume_stats_${name}`, help, ["namespace", "persistentvolumeclaim"]);
  const amounts: ReadonlyArray<readonly [ClaimGauge, (report: VolumeReport) => bigint | undefined]> = [
    [gauge("capacity_bytes", "Capacity in bytes of the volume"), ({ bytes }) => bytes?.total],
    [gauge("available_bytes", "Number of available bytes in the volume"), ({ bytes }) => bytes?.available],
    [gauge("used_bytes", "Number of used bytes in the volume"), ({ bytes }) => bytes?.used],
    [gauge("inodes", "Maximum number of inodes in the volume"), ({ inodes }) => inodes?.total],
    [gauge("inodes_free", "Number of free inodes in the volume"), ({ inodes }) => inodes?.available],
    [gauge("inodes_used", "Number of used inodes in the volume"), ({ inodes }) => inodes?.used],
  ];
  const abnormal = gauge(
    "health_status_abnormal",
    "Abnormal volume health status. The count is either 1 or 0. " +
      "1 indicates the volume is unhealthy, 0 indicates volume is healthy",
  );

  return () => {
    for (const [series] of amounts) series.reset();
    abnormal.reset();
    const seen = new Set<string>();
    for (const report of [...stats.read()].flatMap((pod) => pod.volumes)) {
      const { claim, bytes, inodes, condition } = report;
      // Pods that share a claim share its volume, which is shown once.
      if (claim === undefined || seen.has(`${claim.namespace}/${claim.name}`)) continue;
      seen.add(`${claim.namespace}/${claim.name}`);
      const labels = { namespace: claim.namespace, persistentvolumeclaim: claim.name };
      if (bytes !== undefined || inodes !== undefined) {
        for (const [series, amountOf] of amounts) series.set(Number(amountOf(report) ?? 0n), labels);
      }
      if (condition !== undefined) abnormal.set(condition.abnormal ? 1 : 0, labels);
    }
  };
}
