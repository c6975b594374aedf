import { uniqueVolumeName } from "../../../../api/csi-volumes.ts";
import type { Device } from "./devices.ts";

/**
 * `status.volumesInUse` of the node: what must not be detached. Volumes that are attached by nobody are not among them,
 * but those are of which that is not known, as after a restart.
 */
export function volumesInUse(devices: readonly Device[]): readonly string[] {
  return namesOf(devices.filter(({ isAttachable }) => isAttachable !== false));
}

/** `status.volumesAttached`, of a node that attaches volumes itself. */
export function volumesAttached(devices: readonly Device[]): readonly { name: string; devicePath: string }[] {
  return namesOf(devices.filter(({ isAttached }) => isAttached)).map((name) => ({ name, devicePath: "" }));
}

function namesOf(devices: readonly Device[]): string[] {
  const names = devices.map(({ driverName: driver, handle }) => uniqueVolumeName({ driver, volumeHandle: handle }));
  return [...new Set(names)].sort();
}
