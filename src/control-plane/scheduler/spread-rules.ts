import type { TopologySpreadConstraint } from "../../api/gen/types.ts";
import type { LabelSelector } from "../../api/selectors/label-selector.ts";
import { matchesNodeAffinity } from "../../api/selectors/node-selector.ts";
import { findUntolerated } from "../../api/tolerations.ts";
import { lenientSelectorOf } from "../control-loop/lenient-selector.ts";
import type { NodeInfo, PendingPod } from "./cluster.ts";
import type { PodInfo } from "./pod-info.ts";

/** A constraint of how pods are spread, prepared for counting. */
export interface SpreadRule extends TopologySpreadConstraint {
  readonly selector: LabelSelector;
}

/** The pod's own constraints of one kind: those that must hold, or those that should. */
export function spreadRules(
  { spec, info }: PendingPod,
  whenUnsatisfiable: "DoNotSchedule" | "ScheduleAnyway",
): readonly SpreadRule[] {
  const constraints = (spec.topologySpreadConstraints ?? []).filter((constraint) => {
    return constraint.whenUnsatisfiable === whenUnsatisfiable;
  });
  return constraints.map((constraint) => ({ ...constraint, selector: selectorFor(constraint, info) }));
}

/** The constraint's selector, in which `matchLabelKeys` stand for the pod's own values of these labels. */
function selectorFor({ labelSelector, matchLabelKeys = [] }: TopologySpreadConstraint, { labels }: PodInfo) {
  const own = matchLabelKeys.flatMap((key) => {
    const value = labels[key];
    return value === undefined ? [] : [{ key, operator: "In", values: [value] }];
  });
  if (own.length === 0 || labelSelector === undefined) return lenientSelectorOf(labelSelector);
  return lenientSelectorOf({ ...labelSelector, matchExpressions: [...(labelSelector.matchExpressions ?? []), ...own] });
}

/** Whether the pods of the node count. */
export function isIncluded(
  { nodeAffinityPolicy, nodeTaintsPolicy }: SpreadRule,
  { spec }: PendingPod,
  node: NodeInfo,
): boolean {
  if (nodeAffinityPolicy !== "Ignore" && !matchesNodeAffinity(spec, node)) return false;
  if (nodeTaintsPolicy !== "Honor") return true;
  return findUntolerated(node.taints, spec.tolerations ?? [], ["NoSchedule", "NoExecute"]) === undefined;
}

/** How many pods of the node the rule is about. As upstream has it, a selector without requirements is about none. */
export function countMatching({ selector }: SpreadRule, { namespace }: PodInfo, { pods }: NodeInfo): number {
  if (selector.isEverything) return 0;
  return pods.filter((other) => {
    return other.namespace === namespace && !other.isTerminating && selector.matches(other.labels);
  }).length;
}
