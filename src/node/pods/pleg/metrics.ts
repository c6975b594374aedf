import type { GaugeSeries, HistogramSeries, Metrics } from "../../../base/metrics.ts";

/** Upstream's series of the relist. */
interface PlegMetrics {
  relistDuration: HistogramSeries<never>;
  relistInterval: HistogramSeries<never>;
  lastSeen: GaugeSeries<never>;
  podRelistDuration: HistogramSeries<never>;
}

export function createPlegMetrics(metrics: Metrics): PlegMetrics {
  return {
    relistDuration: metrics.histogram(
      "kubelet_pleg_relist_duration_seconds",
      "Duration in seconds for relisting pods in PLEG.",
    ),
    relistInterval: metrics.histogram(
      "kubelet_pleg_relist_interval_seconds",
      "Interval in seconds between relisting in PLEG.",
    ),
    lastSeen: metrics.gauge("kubelet_pleg_last_seen_seconds", "Timestamp in seconds when PLEG was last seen active."),
    podRelistDuration: metrics.histogram(
      "kubelet_pleg_pod_relist_duration_seconds",
      "Duration in seconds for relisting a single pod in PLEG.",
    ),
  };
}

/** PLEG is told when events begin to come and when they break off. */
interface EventListener {
  setEventDriven(connected: boolean): void;
}

/** The same PLEG, which also counts the streams of events that were opened for it, and those that broke. */
export function countEventStreams<P extends EventListener>(pleg: P, metrics: Metrics): P {
  const opened = metrics.counter(
    "kubelet_evented_pleg_connection_success_count",
    "The number of times a streaming client was obtained to receive CRI Events.",
  );
  const broken = metrics.counter(
    "kubelet_evented_pleg_connection_error_count",
    "The number of errors encountered during the establishment of streaming connection with the CRI runtime.",
  );
  return {
    ...pleg,
    setEventDriven(connected) {
      (connected ? opened : broken).add();
      pleg.setEventDriven(connected);
    },
  };
}
