import { isAbort } from "../base/abort.ts";
import type { HistogramSeries, Metrics } from "../base/metrics.ts";
import type { RpcCaller } from "../grpc/service.ts";
import { nameOfCode } from "../grpc/status.ts";
import { isCsiError } from "./port.ts";

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

/**
 * A caller that times every call. The label `migrated` is about volumes of in-tree plugins, of which there are none
 * here.
 */
export function measureCsiCalls(
  caller: RpcCaller,
  { driverName, series }: { driverName: string; series: CsiSeries },
): RpcCaller {
  return {
    async unary(rpc, request, options) {
      const startedAt = performance.now();
      const observe = (grpcStatusCode: string) =>
        series.observe((performance.now() - startedAt) / 1000, {
          driver_name: driverName,
          method_name: `/${rpc.service}/${rpc.method.name}`,
          grpc_status_code: grpcStatusCode,
          migrated: "false",
        });
      try {
        const response = await caller.unary(rpc, request, options);
        observe("OK");
        return response;
      } catch (error) {
        observe(statusLabelOf(error));
        throw error;
      }
    },
    stream: (rpc, request, options) => caller.stream(rpc, request, options),
  };
}

function statusLabelOf(error: unknown): string {
  if (isAbort(error)) return nameOfCode("cancelled");
  return isCsiError(error) ? nameOfCode(error.code) : "unknown-non-grpc";
}
