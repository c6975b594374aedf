import type { Cluster, NodeInfo, PendingPod } from "../cluster.ts";
import type { PodInfo } from "../pod-info.ts";
import { countMatching, isIncluded, type SpreadRule, spreadRules } from "../spread-rules.ts";
import type { NodeFilter, NodeRejection } from "./filter.ts";

const UNEVEN: NodeRejection = { reasons: ["node(s) didn't match pod topology spread constraints"], isFinal: false };
const NO_LABEL: NodeRejection = {
  reasons: ["node(s) didn't match pod topology spread constraints (missing required label)"],
  isFinal: true,
};

interface Spread extends SpreadRule {
  /** The number of matching pods in each domain, by the value of the label. */
  readonly counts: Map<string, number>;
}

/**
 * Checks the constraints that must hold: no domain has more than `maxSkew` pods more than the emptiest one
 * (`plugins/podtopologyspread`).
 */
export function filterSpread(pod: PendingPod, cluster: Cluster): NodeFilter | undefined {
  const spreads = spreadRules(pod, "DoNotSchedule").map((rule): Spread => ({ ...rule, counts: new Map() }));
  if (spreads.length === 0) return undefined;
  for (const node of cluster.nodes) {
    if (!spreads.every(({ topologyKey }) => Object.hasOwn(node.labels, topologyKey))) continue;
    for (const spread of spreads) if (isIncluded(spread, pod, node)) count(spread, pod.info, node);
  }
  return (node) => judge(spreads, pod.info, node);
}

function count(spread: Spread, pod: PodInfo, node: NodeInfo): void {
  const domain = node.labels[spread.topologyKey] ?? "";
  spread.counts.set(domain, (spread.counts.get(domain) ?? 0) + countMatching(spread, pod, node));
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
