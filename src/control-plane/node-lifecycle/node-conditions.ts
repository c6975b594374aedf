import type { Node, NodeCondition } from "../../api/gen/types.ts";

/** The node's condition of this type as it was last reported. */
export function nodeCondition({ status }: Node, type: string): NodeCondition | undefined {
  return status?.conditions?.find((condition) => condition.type === type);
}

/** The status of the Ready condition: `True`, `False` or `Unknown`; undefined for a node that has never reported it. */
export function readinessOf(node: Node): string | undefined {
  return nodeCondition(node, "Ready")?.status;
}

/** The conditions that a node reports about itself. The condition of the network is reported by others. */
const REPORTED = ["Ready", "MemoryPressure", "DiskPressure", "PIDPressure"];

/** The node with unknown conditions, because it has been silent for too long; undefined when it has them already. */
export function withUnknownConditions(node: Node, now: string): Node | undefined {
  const { conditions = [] } = node.status ?? {};
  const isKnown = (type: string) => nodeCondition(node, type)?.status !== "Unknown";
  if (!REPORTED.some(isKnown)) return undefined;
  const next = conditions.map((condition): NodeCondition => {
    if (!REPORTED.includes(condition.type) || condition.status === "Unknown") return condition;
    return {
      ...condition,
      status: "Unknown",
      reason: "NodeStatusUnknown",
      message: "Kubelet stopped posting node status.",
      lastTransitionTime: now,
    };
  });
  const missing = REPORTED.filter((type) => nodeCondition(node, type) === undefined);
  const never = missing.map((type): NodeCondition => {
    return {
      type,
      status: "Unknown",
      reason: "NodeStatusNeverUpdated",
      message: "Kubelet never posted node status.",
      lastHeartbeatTime: node.metadata?.creationTimestamp ?? now,
      lastTransitionTime: now,
    };
  });
  return { ...node, status: { ...node.status, conditions: [...next, ...never] } };
}
