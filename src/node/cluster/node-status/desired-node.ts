import type { Node } from "../../../api/gen/types.ts";
import { NODE_LABELS } from "../../../api/node-names.ts";
import { PROVIDED_NODE_IP_ANNOTATION } from "./initial-node.ts";
import { computeProvidedNodeIp } from "./node-addresses.ts";
import { computeNodeStatus, type NodeStatusInput } from "./node-status.ts";

/**
 * Computes the node object as the heartbeat wants it: its status, the two labels by which workloads are placed, and the
 * annotation for a cloud controller. `problem` tells why the addresses are not what was asked for.
 */
export function computeDesiredNode(
  current: Node,
  input: NodeStatusInput,
  now: number,
): { readonly node: Node; readonly problem: string | undefined } {
  const { status, problem } = computeNodeStatus(input, current.status ?? {}, now);
  const { [PROVIDED_NODE_IP_ANNOTATION]: _, ...annotations } = current.metadata?.annotations ?? {};
  const nodeIp = computeProvidedNodeIp(input.nodeIps, input.isCloudExternal);
  const node: Node = {
    ...current,
    metadata: {
      ...current.metadata,
      labels: {
        ...current.metadata?.labels,
        [NODE_LABELS.os]: "linux",
        [NODE_LABELS.architecture]: input.machine.identity.architecture,
      },
      annotations: { ...annotations, ...(nodeIp !== undefined && { [PROVIDED_NODE_IP_ANNOTATION]: nodeIp }) },
    },
    status,
  };
  return { node, problem };
}
