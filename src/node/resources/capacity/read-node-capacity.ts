import type { ResourceList } from "../../../api/resources.ts";
import type { NodeAgentConfig } from "../../../config/node-agent-config.ts";
import { type CapacityConfig, createCapacitySettings } from "./capacity-settings.ts";
import { type InventoryDeps, type MachineInventory, readMachineInventory } from "./machine-inventory.ts";
import { computeNodeAllocatable, computeNodeCapacity } from "./node-capacity.ts";

/** The resources of the machine, and the part of them that pods may have. */
interface NodeCapacity {
  readonly machine: MachineInventory;
  readonly capacity: ResourceList;
  readonly allocatable: ResourceList;
}

/** Reads the machine and sets aside what the configuration reserves. Rejects when the machine cannot be read. */
export async function readNodeCapacity(
  deps: InventoryDeps,
  config: CapacityConfig & Pick<NodeAgentConfig, "rootDirectory">,
): Promise<NodeCapacity> {
  const settings = createCapacitySettings(config);
  const machine = await readMachineInventory(deps, config.rootDirectory);
  const capacity = computeNodeCapacity(machine, settings);
  return { machine, capacity, allocatable: computeNodeAllocatable(capacity, settings.reservations) };
}
