import type { TopologySpreadConstraint } from "../../../api/gen/types.ts";
import type { LabelSelector } from "../../../api/selectors/label-selector.ts";
import { matchesNodeAffinity } from "../../../api/selectors/node-selector.ts";
import { findUntolerated } from "../../../api/tolerations.ts";
import { lenientSelectorOf } from "../../control-loop/lenient-selector.ts";
import type { Cluster, NodeInfo, PendingPod } from "../cluster.ts";
import type { PodInfo } from "../pod-info.ts";
import type { NodeFilter, NodeRejection } from "./filter.ts";

const UNEVEN: NodeRejection = { reasons: ["node(s) didn't match pod topology spread constraints"], isFinal: false };
const NO_LABEL: NodeRejection = {
  reasons: ["node(s) didn't match pod topology spread constraints (missing required label)"],
  isFinal: true,
};

interface Spread extends TopologySpreadConstraint {
  readonly selector: LabelSelector;
  /** The number of matching pods in each domain, by the value of the label. */
  readonly counts: Map<string, number>;
}

/**
 * Checks the constraints that must hold: no domain has more than `maxSkew` pods more than the emptiest one
 * (`plugins/podtopologyspread`).
 */
export function filterSpread(pod: PendingPod, cluster: Cluster): NodeFilter | undefined {
  const constraints = (pod.spec.topologySpreadConstraints ?? []).filter((constraint) => {
    return constraint.whenUnsatisfiable === "DoNotSchedule";
  });
  if (constraints.length === 0) return undefined;
  const spreads = constraints.map((constraint): Spread => {
    return { ...constraint, selector: selectorFor(constraint, pod.info), counts: new Map() };
  });
  for (const node of cluster.nodes) {
    if (!spreads.every(({ topologyKey }) => Object.hasOwn(node.labels, topologyKey))) continue;
    for (const spread of spreads) if (isIncluded(spread, pod, node)) count(spread, pod.info, node);
  }
  return (node) => judge(spreads, pod.info, node);
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

function isIncluded({ nodeAffinityPolicy, nodeTaintsPolicy }: Spread, { spec }: PendingPod, node: NodeInfo): boolean {
  if (nodeAffinityPolicy !== "Ignore" && !matchesNodeAffinity(spec, node)) return false;
  if (nodeTaintsPolicy !== "Honor") return true;
  return findUntolerated(node.taints, spec.tolerations ?? [], ["NoSchedule", "NoExecute"]) === undefined;
}

function count({ topologyKey, selector, counts }: Spread, { namespace }: PodInfo, node: NodeInfo): void {
  const domain = node.labels[topologyKey] ?? "";
  const matching = node.pods.filter((other) => {
    return other.namespace === namespace && !other.isTerminating && selector.matches(other.labels);
  });
  counts.set(domain, (counts.get(domain) ?? 0) + matching.length);
}

function judge(spreads: readonly Spread[], { labels }: PodInfo, node: NodeInfo): NodeRejection | undefined {
  for (const { topologyKey, selector, counts, minDomains = 1, maxSkew } of spreads) {
    const domain = Object.hasOwn(node.labels, topologyKey) ? node.labels[topologyKey] : undefined;
    if (domain === undefined) return NO_LABEL;
    const emptiest = counts.size < minDomains ? 0 : Math.min(...counts.values());
    const own = selector.matches(labels) ? 1 : 0;
    if ((counts.get(domain) ?? 0) + own - emptiest > maxSkew) return UNEVEN;
  }
  return undefined;
}
