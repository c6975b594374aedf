import type { Part } from "../../base/run-parts.ts";
import type { NodeDeviceClaims } from "../resources/device-claims/node-device-claims.ts";
import { declarePluginGauge } from "../storage/plugins/plugin-gauge.ts";
import { createPluginWatcher } from "../storage/plugins/plugin-watcher.ts";
import type { ClusterParts } from "./cluster.ts";
import type { DeviceParts } from "./devices.ts";
import type { Foundation } from "./foundation.ts";

interface PluginNeighbours {
  readonly cluster: ClusterParts | undefined;
  readonly devices: DeviceParts;
  readonly deviceClaims: NodeDeviceClaims | undefined;
}

/** The watch for plugins of every type. Drivers of storage and of claims are of use only with an API server. */
export function composePlugins(
  { ports, config }: Foundation,
  { cluster, devices, deviceClaims }: PluginNeighbours,
): Part {
  const { host, log, metrics, plugins } = ports;
  const { clock, files } = host;
  const ofCluster = [cluster?.csi.drivers.handler, deviceClaims?.handler].filter((handler) => handler !== undefined);
  const handlers = [devices.handler, ...ofCluster];
  const watcher = createPluginWatcher(
    { clock, files, log, connect: plugins.connectRegistration },
    { directory: `${config.rootDirectory}/plugins_registry`, handlers },
  );
  declarePluginGauge(metrics, watcher);
  return { name: "plugins", run: watcher.run };
}
