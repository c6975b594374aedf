import type { Taint } from "../../../api/gen/types.ts";
import { NODE_TAINTS } from "../../../api/node-names.ts";
import { computeNamedNodes, matchesNodeAffinity } from "../../../api/selectors/node-selector.ts";
import { findUntolerated, tolerates } from "../../../api/tolerations.ts";
import type { PendingPod } from "../cluster.ts";
import type { NodeFilter, NodeRejection } from "./filter.ts";

const final = (reason: string): NodeRejection => ({ reasons: [reason], isFinal: true });

const UNSCHEDULABLE: NodeRejection = final("node(s) were unschedulable");
const UNTOLERATED: NodeRejection = final("node(s) had untolerated taint(s)");
const NO_AFFINITY: NodeRejection = final("node(s) didn't match Pod's node affinity/selector");
const NOT_NAMED: NodeRejection = final("node(s) didn't satisfy plugin(s) [NodeAffinity]");

const UNSCHEDULABLE_TAINT: Taint = { key: NODE_TAINTS.unschedulable, effect: "NoSchedule" };

/** Turns down cordoned nodes for pods that do not tolerate this (`plugins/nodeunschedulable`). */
export function filterUnschedulable({ spec: { tolerations = [] } }: PendingPod): NodeFilter | undefined {
  if (tolerations.some((toleration) => tolerates(toleration, UNSCHEDULABLE_TAINT))) return undefined;
  return ({ isUnschedulable }) => (isUnschedulable ? UNSCHEDULABLE : undefined);
}

/**
 * Checks the taints that keep pods off (`plugins/tainttoleration`), among them those for the node's conditions. Memory
 * pressure keeps off only pods that request no memory: the requests of the others are counted already.
 */
export function filterTaints({ spec: { tolerations = [] }, qos }: PendingPod): NodeFilter {
  return ({ taints }) => {
    const counting = qos === "BestEffort" ? taints : taints.filter(({ key }) => key !== NODE_TAINTS.memoryPressure);
    return findUntolerated(counting, tolerations, ["NoSchedule", "NoExecute"]) && UNTOLERATED;
  };
}

/** Checks `nodeSelector` and required node affinity (`plugins/nodeaffinity`). */
export function filterNodeAffinity({ spec }: PendingPod): NodeFilter | undefined {
  if (spec.nodeSelector === undefined && spec.affinity?.nodeAffinity === undefined) return undefined;
  const named = computeNamedNodes(spec);
  return (node) => {
    if (named !== undefined && !named.has(node.name)) return NOT_NAMED;
    return matchesNodeAffinity(spec, node) ? undefined : NO_AFFINITY;
  };
}
