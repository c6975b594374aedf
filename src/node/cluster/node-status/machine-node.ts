import type { Node } from "../../../api/gen/types.ts";
import type { NodeAgentConfig } from "../../../config/node-agent-config.ts";
import type { InventoryDeps } from "../../resources/capacity/machine-inventory.ts";
import { readNodeCapacity } from "../../resources/capacity/read-node-capacity.ts";
import { computeInitialNode } from "./initial-node.ts";
import { createInitialNodeOptions } from "./node-settings.ts";

/** Reads the machine as the node object that would be registered for it, for a node that no API server knows yet. */
export async function readMachineNode(deps: InventoryDeps, config: NodeAgentConfig): Promise<Node> {
  const { machine, capacity, allocatable } = await readNodeCapacity(deps, config);
  const { architecture } = machine.identity;
  return computeInitialNode({ architecture, status: { capacity, allocatable } }, createInitialNodeOptions(config));
}

/**
 * Gives the API server's node object the resources of the machine where the object has none: another client may have
 * made the object, and its status is still on its way there.
 */
export function withMachineResources(node: Node, machineNode: Node): Node {
  return node.status?.allocatable === undefined ? { ...node, status: machineNode.status ?? {} } : node;
}
