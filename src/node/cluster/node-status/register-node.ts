import type { Node } from "../../../api/gen/types.ts";
import type { Clock } from "../../../base/clock.ts";
import type { NodeAgentConfig } from "../../../config/node-agent-config.ts";
import { type InventoryDeps, readMachineInventory } from "../../resources/capacity/machine-inventory.ts";
import { computeInitialNode } from "./initial-node.ts";
import type { NodeRegistration } from "./node-registration.ts";
import { createInitialNodeOptions } from "./node-settings.ts";
import { computeNodeStatus, type NodeStatusInput } from "./node-status.ts";

interface RegisterNodeDeps extends InventoryDeps {
  readonly clock: Pick<Clock, "now">;
  readonly registration: Pick<NodeRegistration, "register">;
  readStatus(): Promise<NodeStatusInput>;
}

/**
 * Returns a function that registers the node with the status of that moment. It tries until that succeeds, and rejects
 * with AbortedError only.
 */
export function createNodeRegistrar(deps: RegisterNodeDeps, config: NodeAgentConfig) {
  return async (signal: AbortSignal): Promise<Node> => {
    const { identity } = await readMachineInventory(deps, config.rootDirectory);
    const { status } = computeNodeStatus(await deps.readStatus(), {}, deps.clock.now());
    const facts = { architecture: identity.architecture, status };
    return await deps.registration.register(computeInitialNode(facts, createInitialNodeOptions(config)), signal);
  };
}
