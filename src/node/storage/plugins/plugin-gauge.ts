import type { Metrics } from "../../../base/metrics.ts";
import type { PluginWatcher } from "./plugin-watcher.ts";

/** `plugin_manager_total_plugins` counts each socket that exists, and each whose plugin is registered. */
export function declarePluginGauge(metrics: Metrics, watcher: Pick<PluginWatcher, "sockets">): void {
  const plugins = metrics.gauge("plugin_manager_total_plugins", "Number of plugins in Plugin Manager", [
    "socket_path",
    "state",
  ]);
  metrics.beforeRender(() => {
    plugins.reset();
    for (const { path: socket_path, isRegistered } of watcher.sockets()) {
      plugins.set(1, { socket_path, state: "desired_state_of_world" });
      if (isRegistered) plugins.set(1, { socket_path, state: "actual_state_of_world" });
    }
  });
}
