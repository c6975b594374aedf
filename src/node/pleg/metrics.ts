import type { GaugeSeries, HistogramSeries, Metrics } from "../../base/metrics.ts";

/** Upstream's series about the relist. */
export interface PlegMetrics {
  relistDuration: HistogramSeries<never>;
  relistInterval: HistogramSeries<never>;
  lastSeen: GaugeSeries<never>;
}

export function createPlegMetrics(metrics: Metrics): PlegMetrics {
  return {
    relistDuration: metrics.histogram("kubelet_pleg_relist_duration_seconds", "Duration of relisting pods in PLEG."),
    relistInterval: metrics.histogram("kubelet_pleg_relist_interval_seconds", "Interval between relisting in PLEG."),
    lastSeen: metrics.gauge("kubelet_pleg_last_seen_seconds", "When PLEG was last seen active, Unix time in seconds."),
  };
}
