import type { Part } from "../../base/run-parts.ts";
import { declarePluginGauge } from "../storage/plugins/plugin-gauge.ts";
import { createPluginWatcher } from "../storage/plugins/plugin-watcher.ts";
import type { ClusterParts } from "./cluster.ts";
import type { DeviceParts } from "./devices.ts";
import type { Foundation } from "./foundation.ts";

interface PluginNeighbours {
  readonly cluster: ClusterParts | undefined;
  readonly devices: DeviceParts;
}

/** The watch for plugins of every type. Storage drivers are of use only with an API server. */
export function composePlugins({ ports, config }: Foundation, { cluster, devices }: PluginNeighbours): Part {
  const { host, log, metrics, plugins } = ports;
  const { clock, files } = host;
  const handlers = [devices.handler, ...(cluster === undefined ? [] : [cluster.csi.drivers.handler])];
  const watcher = createPluginWatcher(
    { clock, files, log, connect: plugins.connectRegistration },
    { directory: `${config.rootDirectory}/plugins_registry`, handlers },
  );
  declarePluginGauge(metrics, watcher);
  return { name: "plugins", run: watcher.run };
}
