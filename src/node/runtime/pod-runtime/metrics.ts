import type { CounterSeries, HistogramSeries, Metrics } from "../../../base/metrics.ts";

/** Upstream's series about the starts of pods and containers, about hooks and about image volumes. */
export interface RuntimeMetrics extends HookMetrics {
  startedPods: CounterSeries<never>;
  startedPodErrors: CounterSeries<never>;
  /** Counts those of the started pods that have `hostUsers: false`. */
  startedUserNamespacedPods: CounterSeries<never>;
  startedUserNamespacedPodErrors: CounterSeries<never>;
  startedContainers: CounterSeries<"container_type">;
  /** `code` is the reason that the container's status shows. */
  startedContainerErrors: CounterSeries<"container_type" | "code">;
  runSandboxDuration: HistogramSeries<"runtime_handler">;
  runSandboxErrors: CounterSeries<"runtime_handler">;
  requestedImageVolumes: CounterSeries<never>;
  mountedImageVolumes: CounterSeries<never>;
  imageVolumeErrors: CounterSeries<never>;
}

/** The series about lifecycle hooks. */
export interface HookMetrics {
  httpFallbacks: CounterSeries<never>;
  endedSleeps: CounterSeries<never>;
}

export function createRuntimeMetrics(metrics: Metrics): RuntimeMetrics {
  const counter = (name: string, help: string) => metrics.counter(`kubelet_${name}`, help);
  return {
    ...declareStarts(metrics),
    requestedImageVolumes: counter("image_volume_requested_total", "Number of requested image volumes."),
    mountedImageVolumes: counter("image_volume_mounted_succeed_total", "Number of successful image volume mounts."),
    imageVolumeErrors: counter("image_volume_mounted_errors_total", "Number of failed image volume mounts."),
    httpFallbacks: counter(
      "lifecycle_handler_http_fallbacks_total",
      "The number of times lifecycle handlers successfully fell back to http from https.",
    ),
    endedSleeps: counter(
      "sleep_action_terminated_early_total",
      "The number of times lifecycle sleep handler got terminated before it finishes",
    ),
  };
}

function declareStarts(metrics: Metrics): Omit<RuntimeMetrics, keyof HookMetrics | `${string}mageVolume${string}`> {
  const onLinux = "This metric will only be collected on Linux.";
  return {
    startedPods: metrics.counter("kubelet_started_pods_total", "Cumulative number of pods started"),
    startedPodErrors: metrics.counter(
      "kubelet_started_pods_errors_total",
      "Cumulative number of errors when starting pods",
    ),
    startedUserNamespacedPods: metrics.counter(
      "kubelet_started_user_namespaced_pods_total",
      `Cumulative number of pods with user namespaces started. ${onLinux}`,
    ),
    startedUserNamespacedPodErrors: metrics.counter(
      "kubelet_started_user_namespaced_pods_errors_total",
      `Cumulative number of errors when starting pods with user namespaces. ${onLinux}`,
    ),
    startedContainers: metrics.counter("kubelet_started_containers_total", "Cumulative number of containers started", [
      "container_type",
    ]),
    startedContainerErrors: metrics.counter(
      "kubelet_started_containers_errors_total",
      "Cumulative number of errors when starting containers",
      ["container_type", "code"],
    ),
    runSandboxDuration: metrics.histogram(
      "kubelet_run_podsandbox_duration_seconds",
      "Duration in seconds of the run_podsandbox operations. Broken down by RuntimeClass.Handler.",
      { labels: ["runtime_handler"] },
    ),
    runSandboxErrors: metrics.counter(
      "kubelet_run_podsandbox_errors_total",
      "Cumulative number of the run_podsandbox operation errors by RuntimeClass.Handler.",
      ["runtime_handler"],
    ),
  };
}
