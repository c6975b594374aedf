import { createStatusChanges, type StatusChanges } from "../cluster/node-status/status-changes.ts";
import { createNodeDevices, type NodeDevices } from "../resources/devices/node-devices.ts";
import type { Foundation } from "./foundation.ts";

/** The devices of this node, and word of their changes. */
export interface DeviceParts extends NodeDevices {
  /** The node has other devices to tell of. */
  readonly changes: Pick<StatusChanges, "subscribe">;
}

/** Reads the account of devices that is on the disk. */
export async function composeDevices({ ports, config, runner, inbox }: Foundation): Promise<DeviceParts> {
  const { host, log, metrics, plugins } = ports;
  const { clock, files } = host;
  const changes = createStatusChanges();
  const devices = await createNodeDevices(
    {
      clock,
      files,
      log,
      metrics,
      tasks: runner.tasks,
      connect: plugins.connectDevicePlugin,
      serve: plugins.serve,
      onChanged: changes.tell,
      onPodChanged: inbox.offerReferenced,
    },
    {
      directory: `${config.rootDirectory}/device-plugins`,
      tellsHealth: config.featureGates.ResourceHealthStatus,
    },
  );
  return { ...devices, changes };
}
