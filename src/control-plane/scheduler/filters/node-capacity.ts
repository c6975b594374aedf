import { type HostPort, isSameHostPort } from "../../../api/host-ports.ts";
import type { NodeInfo, PendingPod } from "../cluster.ts";
import type { NodeFilter, NodeRejection } from "./filter.ts";

const NO_FREE_PORTS: NodeRejection = {
  reasons: ["node(s) didn't have free ports for the requested pod ports"],
  isFinal: false,
};

/** Checks the host ports that the pod asks for (`plugins/nodeports`). */
export function filterPorts({ info: { hostPorts } }: PendingPod): NodeFilter | undefined {
  if (hostPorts.length === 0) return undefined;
  return ({ pods }) => {
    const isTaken = (wanted: HostPort) =>
      pods.some((pod) => pod.hostPorts.some((port) => isSameHostPort(port, wanted)));
    return hostPorts.some(isTaken) ? NO_FREE_PORTS : undefined;
  };
}

/**
 * Checks CPU, memory and every other counted resource of the node, the number of pods included
 * (`plugins/noderesources/fit.go`).
 */
export function filterResources(pod: PendingPod): NodeFilter {
  return (node) => {
    const reasons: string[] = [];
    let isFinal = false;
    if (BigInt(node.pods.length) + 1n > amountIn(node.allocatable, "pods")) reasons.push("Too many pods");
    for (const [name, wanted] of pod.info.requests) {
      const allocatable = amountIn(node.allocatable, name);
      if (wanted + amountIn(node.requested, name) <= allocatable) continue;
      reasons.push(`Insufficient ${name}`);
      // The pod would not even fit onto the empty node.
      if (wanted > allocatable) isFinal = true;
    }
    return reasons.length === 0 ? undefined : { reasons, isFinal };
  };
}

const amountIn = (amounts: NodeInfo["allocatable"], name: string): bigint => amounts.get(name) ?? 0n;
