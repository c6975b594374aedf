import { uniqueVolumeName } from "../../../../api/csi-volumes.ts";
import type { Device } from "./devices.ts";

/**
 * `status.volumesInUse` of the node: the volumes that must not be detached. Volumes that need no attachment are left out;
 * volumes of which this is unknown, for example after a restart, are included.
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
