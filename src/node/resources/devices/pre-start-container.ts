import { messageOf } from "../../../base/errors.ts";
import { type DeviceAssignments, listDeviceIds } from "./device-assignments.ts";
import type { DeviceInventory } from "./device-inventory.ts";

interface PreStartDeps {
  readonly inventory: Pick<DeviceInventory, "get">;
  readonly assignments: Pick<DeviceAssignments, "ofContainer">;
}

/** The devices of one resource of a container. */
interface DevicesToStart {
  readonly podUid: string;
  readonly container: string;
  readonly resource: string;
}

/** Upstream's limit. */
const TIMEOUT_MS = 30_000;

/**
 * Tells the plugin that the container is about to start, where the plugin wants to be told. Returns why the container
 * must not start, undefined where it may.
 */
export async function preStartContainer(
  { inventory, assignments }: PreStartDeps,
  { podUid, container, resource: name }: DevicesToStart,
  signal: AbortSignal,
): Promise<string | undefined> {
  const resource = inventory.get(name);
  if (resource === undefined) return `endpoint not found in cache for a registered resource: ${name}`;
  if (resource.plugin?.options.preStartRequired !== true) return undefined;
  const devices = assignments.ofContainer(podUid, container).get(name);
  if (devices === undefined) {
    return `no devices found allocated in local cache for pod ${podUid}, container ${container}, resource ${name}`;
  }
  try {
    await resource.plugin.client.preStartContainer(listDeviceIds(devices), { signal, timeoutMs: TIMEOUT_MS });
    return undefined;
  } catch (error) {
    signal.throwIfAborted();
    return `device plugin PreStartContainer rpc failed with err: ${messageOf(error)}`;
  }
}
