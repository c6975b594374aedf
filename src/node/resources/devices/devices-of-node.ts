import type { Node } from "../../../api/gen/types.ts";
import type { DeviceAssignments } from "./device-assignments.ts";
import type { DeviceCapacity } from "./device-inventory.ts";

/** The node's object with what device plugins offer. Everything else of it stays. */
export function withDeviceCapacity(node: Node, { capacity, allocatable }: DeviceCapacity): Node {
  if (Object.keys(capacity).length === 0) return node;
  const { status } = node;
  return {
    ...node,
    status: {
      ...status,
      capacity: { ...status?.capacity, ...capacity },
      allocatable: { ...status?.allocatable, ...allocatable },
    },
  };
}

/**
 * The node as pods are measured against it: containers have what they have, also where a plugin is gone and the node
 * tells of fewer devices (upstream: `sanitizeNodeAllocatable` in pkg/kubelet/cm/devicemanager/manager.go).
 */
export function withAssignedDevices(node: Node, assignments: Pick<DeviceAssignments, "resources" | "inUse">): Node {
  const allocatable = { ...node.status?.allocatable };
  for (const name of assignments.resources()) {
    const used = assignments.inUse(name).size;
    const told = allocatable[name];
    if (told !== undefined && Number(told) < used) allocatable[name] = String(used);
  }
  return { ...node, status: { ...node.status, allocatable } };
}
