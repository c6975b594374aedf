import type { Clock } from "../../../base/clock.ts";
import { createMetrics, type Metrics } from "../../../base/metrics.ts";

/** What a look at an autoscaler did. */
export interface LookResult {
  readonly action: "scale_up" | "scale_down" | "none";
  readonly error: "internal" | "none";
}

/** Counts the looks at autoscalers. */
export interface AutoscalerMetrics {
  /** Begins a look; what is returned ends it. */
  begin(): (result: LookResult) => void;
}

/** An autoscaler that is there. */
export interface ReportedAutoscaler {
  readonly namespace: string;
  readonly name: string;
  /** Undefined until it is known. */
  readonly desiredReplicas: number | undefined;
}

/** Declares upstream's series (`podautoscaler/monitor`). Without a place for them, nobody counts. */
export function createAutoscalerMetrics(
  clock: Pick<Clock, "monotonic">,
  readAll: () => readonly ReportedAutoscaler[],
  metrics: Metrics = createMetrics(),
): AutoscalerMetrics {
  const labels = ["action", "error"] as const;
  const prefix = "horizontal_pod_autoscaler_controller";
  const total = metrics.counter(
    `${prefix}_reconciliations_total`,
    "Number of reconciliations of HPA controller.",
    labels,
  );
  const durations = metrics.histogram(
    `${prefix}_reconciliation_duration_seconds`,
    "The time(seconds) that the HPA controller takes to reconcile once.",
    { labels, buckets: Array.from({ length: 15 }, (_, power) => 0.001 * 2 ** power) },
  );
  const count = metrics.gauge(`${prefix}_num_horizontal_pod_autoscalers`, "Current number of controlled HPA objects.");
  const desired = metrics.gauge(`${prefix}_desired_replicas`, "Current desired replica count for HPA objects.", [
    "namespace",
    "hpa_name",
  ]);
  metrics.beforeRender(() => {
    const all = readAll();
    count.set(all.length);
    desired.reset();
    for (const { namespace, name, desiredReplicas } of all) {
      if (desiredReplicas !== undefined) desired.set(desiredReplicas, { namespace, hpa_name: name });
    }
  });
  return {
    begin() {
      const since = clock.monotonic();
      return ({ action, error }) => {
        total.add({ action, error });
        durations.observe((clock.monotonic() - since) / 1000, { action, error });
      };
    },
  };
}
