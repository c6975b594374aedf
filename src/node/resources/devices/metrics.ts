import type { Clock } from "../../../base/clock.ts";
import type { Metrics } from "../../../base/metrics.ts";

interface DeviceMetrics {
  countRegistration(resource: string): void;
  /** Times a call, whatever becomes of it. */
  measureAllocate<T>(resource: string, call: () => Promise<T>): Promise<T>;
}

/** Declares upstream's series of device plugins. */
export function declareDeviceMetrics(metrics: Metrics, clock: Pick<Clock, "monotonic">): DeviceMetrics {
  const registrations = metrics.counter(
    "kubelet_device_plugin_registration_total",
    "Cumulative number of device plugin registrations. Broken down by resource name.",
    ["resource_name"],
  );
  const allocations = metrics.histogram(
    "kubelet_device_plugin_alloc_duration_seconds",
    "Duration in seconds to serve a device plugin Allocation request. Broken down by resource name.",
    { labels: ["resource_name"] },
  );
  return {
    countRegistration: (resource_name) => registrations.add({ resource_name }),
    async measureAllocate(resource_name, call) {
      const startedAt = clock.monotonic();
      try {
        return await call();
      } finally {
        allocations.observe((clock.monotonic() - startedAt) / 1000, { resource_name });
      }
    },
  };
}
