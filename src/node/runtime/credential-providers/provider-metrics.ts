import type { Metrics } from "../../../base/metrics.ts";

/** Counts runs of plugins, under upstream's names. */
export interface ProviderMetrics {
  ran(plugin: string, seconds: number, succeeded: boolean): void;
}

/** `hash` is the hash of the configuration; it is reported for as long as the node agent runs. */
export function declareProviderMetrics(metrics: Metrics, hash: string): ProviderMetrics {
  const errors = metrics.counter(
    "kubelet_credential_provider_plugin_errors_total",
    "Number of errors from credential provider plugin",
    ["plugin_name"],
  );
  const durations = metrics.histogram(
    "kubelet_credential_provider_plugin_duration",
    "Duration of execution in seconds for credential provider plugin",
    { labels: ["plugin_name"] },
  );
  const info = metrics.gauge(
    "kubelet_credential_provider_config_info",
    "Information about the last applied credential provider configuration with hash as label",
    ["hash"],
  );
  info.set(1, { hash });
  return {
    ran(plugin, seconds, succeeded) {
      durations.observe(seconds, { plugin_name: plugin });
      if (!succeeded) errors.add({ plugin_name: plugin });
    },
  };
}
