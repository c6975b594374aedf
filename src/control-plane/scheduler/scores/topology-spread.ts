import type { Cluster, NodeInfo, PendingPod } from "../cluster.ts";
import { countMatching, isIncluded, type SpreadRule, spreadRules } from "../spread-rules.ts";
import { MAX_SCORE, type ScoreNodes } from "./node-score.ts";

const HOSTNAME = "kubernetes.io/hostname";
/** What holds for pods without constraints of their own, but with a service or a controller that tells who is alike. */
const SYSTEM_DEFAULTS = [
  { topologyKey: HOSTNAME, maxSkew: 3, whenUnsatisfiable: "ScheduleAnyway" },
  { topologyKey: "topology.kubernetes.io/zone", maxSkew: 5, whenUnsatisfiable: "ScheduleAnyway" },
];

interface Spread {
  readonly rule: SpreadRule;
  /** The number of matching pods in the domains of the nodes that fit, by the value of the label. */
  readonly counts: ReadonlyMap<string, number>;
  /** The more domains there are, the more one pod weighs. */
  readonly weight: number;
}

/** The fewer pods like it are in the node's domains, the better (`plugins/podtopologyspread`). */
export const scoreSpread: ScoreNodes = (pod, nodes, cluster) => {
  const { rules, needsAll } = softRules(pod, cluster);
  if (rules.length === 0) return undefined;
  const hasDomains = ({ labels }: NodeInfo) =>
    !needsAll || rules.every(({ topologyKey }) => Object.hasOwn(labels, topologyKey));
  const known = nodes.filter(hasDomains);
  const spreads = rules.map((rule): Spread => {
    const counts = countDomains(rule, pod, { known, all: cluster.nodes.filter(hasDomains) });
    return { rule, counts, weight: Math.log((rule.topologyKey === HOSTNAME ? known.length : counts.size) + 2) };
  });
  const crowds = nodes.map((node) => (hasDomains(node) ? computeCrowd(spreads, pod, node) : undefined));
  const counted = crowds.filter((crowd) => crowd !== undefined);
  const [least, most] = [Math.min(...counted), Math.max(0, ...counted)];
  return crowds.map((crowd) => {
    if (crowd === undefined) return 0;
    return most === 0 ? MAX_SCORE : Math.trunc((MAX_SCORE * (most + least - crowd)) / most);
  });
};

/** The rules that may be broken, and whether a node without one of their labels is as bad as can be. */
function softRules(pod: PendingPod, cluster: Cluster): { rules: readonly SpreadRule[]; needsAll: boolean } {
  if ((pod.spec.topologySpreadConstraints ?? []).length > 0) {
    return { rules: spreadRules(pod, "ScheduleAnyway"), needsAll: true };
  }
  const selector = cluster.selectorOfKin(pod);
  const rules = selector.requirements.length === 0 ? [] : SYSTEM_DEFAULTS.map((rule) => ({ ...rule, selector }));
  return { rules, needsAll: false };
}

function countDomains(
  rule: SpreadRule,
  pod: PendingPod,
  { known, all }: { known: readonly NodeInfo[]; all: readonly NodeInfo[] },
): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  if (rule.topologyKey === HOSTNAME) return counts;
  const domainOf = ({ labels }: NodeInfo) => labels[rule.topologyKey] ?? "";
  for (const node of known) counts.set(domainOf(node), 0);
  for (const node of all) {
    const count = counts.get(domainOf(node));
    if (count === undefined || !isIncluded(rule, pod, node)) continue;
    counts.set(domainOf(node), count + countMatching(rule, pod.info, node));
  }
  return counts;
}

function computeCrowd(spreads: readonly Spread[], pod: PendingPod, node: NodeInfo): number {
  let crowd = 0;
  for (const { rule, counts, weight } of spreads) {
    if (!Object.hasOwn(node.labels, rule.topologyKey)) continue;
    const domain = node.labels[rule.topologyKey] ?? "";
    const count = rule.topologyKey === HOSTNAME ? countMatching(rule, pod.info, node) : (counts.get(domain) ?? 0);
    crowd += count * weight + rule.maxSkew - 1;
  }
  return Math.round(crowd);
}
