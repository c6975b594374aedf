import type { ResourceStatus } from "../../../api/gen/types.ts";
import { type DeviceAssignments, listDeviceIds } from "./device-assignments.ts";
import type { DeviceInventory } from "./device-inventory.ts";

/**
 * The health of a container's devices, as its status tells it (`allocatedResourcesStatus`).
 * A device that its plugin does not list any more counts as healthy, as upstream.
 */
export function computeDeviceHealth(
  {
    inventory,
    assignments,
  }: {
    readonly inventory: Pick<DeviceInventory, "get">;
    readonly assignments: Pick<DeviceAssignments, "ofContainer">;
  },
  podUid: string,
  container: string,
): ResourceStatus[] {
  const devices = [...assignments.ofContainer(podUid, container)].sort(([a], [b]) => (a < b ? -1 : 1));
  return devices.map(([name, assigned]) => ({
    name,
    resources: listDeviceIds(assigned)
      .sort()
      .map((resourceID) => {
        const isHealthy = inventory.get(name)?.devices.get(resourceID)?.isHealthy ?? true;
        return { resourceID, health: isHealthy ? "Healthy" : "Unhealthy" };
      }),
  }));
}
