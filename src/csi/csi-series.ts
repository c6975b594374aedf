import type { HistogramSeries, Metrics } from "../base/metrics.ts";

const LABELS = ["driver_name", "method_name", "grpc_status_code", "migrated"] as const;

/** Upstream's buckets for everything about storage, in seconds (`pkg/volume/util/metrics.go`). */
const BUCKETS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 25, 50, 120, 300, 600];

type CsiSeries = HistogramSeries<(typeof LABELS)[number]>;

/** A registry takes a series once, and every driver's connection uses the same. */
const seriesByRegistry = new WeakMap<Metrics, CsiSeries>();

/** `csi_operations_seconds` of this registry. */
export function seriesOf(metrics: Metrics): CsiSeries {
  const help = "Container Storage Interface operation duration with gRPC error code status total";
  const series =
    seriesByRegistry.get(metrics) ??
    metrics.histogram("csi_operations_seconds", help, { labels: LABELS, buckets: BUCKETS });
  seriesByRegistry.set(metrics, series);
  return series;
}
