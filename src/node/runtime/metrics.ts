import type { CounterSeries, HistogramSeries, Metrics } from "../../base/metrics.ts";

/** Upstream's series about starts of pods and containers. */
export interface RuntimeMetrics {
  startedPods: CounterSeries<never>;
  startedPodErrors: CounterSeries<"code">;
  startedContainers: CounterSeries<"container_type">;
  startedContainerErrors: CounterSeries<"container_type" | "code">;
  runSandboxDuration: HistogramSeries<"runtime_handler">;
  runSandboxErrors: CounterSeries<"runtime_handler">;
}

export function createRuntimeMetrics(metrics: Metrics): RuntimeMetrics {
  return {
    startedPods: metrics.counter("kubelet_started_pods_total", "Pods started."),
    startedPodErrors: metrics.counter("kubelet_started_pods_errors_total", "Errors when starting pods.", ["code"]),
    startedContainers: metrics.counter("kubelet_started_containers_total", "Containers started.", ["container_type"]),
    startedContainerErrors: metrics.counter(
      "kubelet_started_containers_errors_total",
      "Errors when starting containers.",
      ["container_type", "code"],
    ),
    runSandboxDuration: metrics.histogram(
      "kubelet_run_podsandbox_duration_seconds",
      "Duration of RunPodSandbox calls.",
      {
        labels: ["runtime_handler"],
      },
    ),
    runSandboxErrors: metrics.counter("kubelet_run_podsandbox_errors_total", "Failed RunPodSandbox calls.", [
      "runtime_handler",
    ]),
  };
}
