import { isAbort } from "../base/abort.ts";
import type { Metrics } from "../base/metrics.ts";
import type { RpcCaller } from "../grpc/service.ts";

/** The bounds go from 5 ms to about 12 minutes, each 2.5 times the last, as upstream's. */
const DURATION_BUCKETS = Array.from({ length: 14 }, (_, power) => 0.005 * 2.5 ** power);

/** A caller that counts and times every unary call under upstream's names, by operation (`run_podsandbox`, …). */
export function measureCriCalls(caller: RpcCaller, series: CallSeries): RpcCaller {
  return {
    async unary(rpc, request, options) {
      const labels = { operation_type: operationTypeOf(rpc.method.name) };
      const startedAt = performance.now();
      try {
        return await caller.unary(rpc, request, options);
      } catch (error) {
        if (!isAbort(error)) series.errors.add(labels);
        throw error;
      } finally {
        series.operations.add(labels);
        series.duration.observe((performance.now() - startedAt) / 1000, labels);
      }
    },
    stream: (rpc, request, options) => caller.stream(rpc, request, options),
  };
}

type CallSeries = ReturnType<typeof declareCallSeries>;

/** To be called once for a registry, because a registry refuses a second series of the same name. */
export function declareCallSeries(metrics: Metrics) {
  const labels = ["operation_type"] as const;
  const prefix = "kubelet_runtime_operations";
  return {
    operations: metrics.counter(
      `${prefix}_total`,
      "Cumulative number of runtime operations by operation type.",
      labels,
    ),
    errors: metrics.counter(
      `${prefix}_errors_total`,
      "Cumulative number of runtime operation errors by operation type.",
      labels,
    ),
    duration: metrics.histogram(
      `${prefix}_duration_seconds`,
      "Duration in seconds of runtime operations. Broken down by operation type.",
      {
        labels,
        buckets: DURATION_BUCKETS,
      },
    ),
  };
}

/**
 * Upstream writes its operation types by hand (`kuberuntime/instrumented_services.go`), with one word for a pod
 * sandbox.
 */
export function operationTypeOf(rpc: string): string {
  if (rpc === "UpdateContainerResources") return "update_container";
  const words = rpc.replaceAll("PodSandbox", "Podsandbox").replaceAll(/(?<=[a-z])(?=[A-Z])/g, "_");
  return words.toLowerCase();
}
