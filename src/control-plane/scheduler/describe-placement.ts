import { NODE_TAINTS } from "../../api/node-names.ts";
import { formatQuantity } from "../../api/quantity.ts";
import { tolerates } from "../../api/tolerations.ts";
import { RULE_SEPARATOR } from "../../explain/pod-decisions.ts";
import type { NodeInfo, PendingPod } from "./cluster.ts";
import type { FilteredOut } from "./filters/all-filters.ts";
import type { RankedNode } from "./score.ts";

/** How a pod's node was found: of those that fit, the best first, and why each other was refused. */
export interface NodeSearch {
  readonly ranking: readonly RankedNode[];
  readonly refusals: readonly NodeRefusal[];
}

/** A node that was turned down. */
interface NodeRefusal {
  readonly node: NodeInfo;
  readonly rejection: FilteredOut;
}

/** At most so many are named; the others are counted. */
const MAX_NODES = 5;
const MAX_RULES = 12;

/** Says which node was chosen before which others, and which were refused by which rule. */
export function describeChoice(pod: PendingPod, nodeName: string, { ranking, refusals }: NodeSearch): string {
  const [first, ...others] = ranking;
  const isPromised = first !== undefined && first.name !== nodeName;
  const next = others.slice(0, 3).map(({ name, score }) => `${name} (${score})`);
  const how = isPromised
    ? ", where room was made for it"
    : others.length === 0
      ? ", the only node that fits"
      : `, with a score of ${first?.score ?? 0} before ${nameFew(next, others.length)}`;
  const refused = refusals.length === 0 ? "" : `; ${describeRefusals(pod, refusals)}`;
  return `The pod was placed on ${nodeName}${how}${refused}`;
}

/** Says rule by rule which nodes were refused, with what was asked for and what is free where that is the reason. */
export function describeRefusals(pod: PendingPod, refusals: readonly NodeRefusal[]): string {
  const byRule = new Map<string, NodeRefusal[]>();
  for (const refusal of refusals) {
    const { plugin, reasons } = refusal.rejection;
    const rule = `${plugin}\n${reasons.join(", ")}`;
    byRule.set(rule, [...(byRule.get(rule) ?? []), refusal]);
  }
  const rules = [...byRule].map(([rule, refused]) => {
    const [plugin = "", reasons = ""] = rule.split("\n");
    const names = refused
      .slice(0, MAX_NODES)
      .map(({ node, rejection }) => `${node.name}${detailOf(pod, node, rejection)}`);
    return `${plugin} refuses ${nameFew(names, refused.length)}: ${reasons}`;
  });
  return nameFew(rules.slice(0, MAX_RULES), rules.length, RULE_SEPARATOR);
}

function nameFew(named: readonly string[], count: number, separator = ", "): string {
  const more = count - named.length;
  return `${named.join(separator)}${more > 0 ? ` and ${more} more` : ""}`;
}

/** What is in the way on the node: the taints, or what is asked for and what is left. */
function detailOf(pod: PendingPod, node: NodeInfo, rejection: FilteredOut): string {
  return rejection.plugin === "TaintToleration" ? taintsOf(pod, node) : shortageOf(pod, node, rejection);
}

function taintsOf({ spec: { tolerations = [] }, qos }: PendingPod, { taints }: NodeInfo): string {
  const hindering = taints.filter((taint) => {
    if (taint.effect === "PreferNoSchedule") return false;
    const counts = qos === "BestEffort" || taint.key !== NODE_TAINTS.memoryPressure;
    return counts && !tolerations.some((toleration) => tolerates(toleration, taint));
  });
  const words = hindering.map(({ key, value = "", effect }) => `${key}${value === "" ? "" : `=${value}`}:${effect}`);
  return ` {${words.join(", ")}}`;
}

/** ` (memory: asks for 4Gi, 1Gi of 2Gi is free)`. */
function shortageOf({ info }: PendingPod, node: NodeInfo, { reasons }: FilteredOut): string {
  const lacking = [...info.requests].filter(([name]) => reasons.includes(`Insufficient ${name}`));
  if (lacking.length === 0) return "";
  const words = lacking.map(([name, wanted]) => {
    const all = node.allocatable.get(name) ?? 0n;
    const free = all - (node.requested.get(name) ?? 0n);
    const [asked, left, whole] = [wanted, free < 0n ? 0n : free, all].map((amount) => formatAmount(name, amount));
    return `${name}: asks for ${asked}, ${left} of ${whole} is free`;
  });
  return ` (${words.join(", ")})`;
}

const NANOS = 10n ** 9n;
const MEBIBYTE = 1024n ** 2n;

function formatAmount(name: string, amount: bigint): string {
  if (name === "cpu") return formatQuantity({ nanos: (amount * NANOS) / 1000n, format: "DecimalSI" });
  // Nobody asks how many bytes of a gibibyte are free.
  const rounded = amount > 10n * MEBIBYTE ? amount - (amount % MEBIBYTE) : amount;
  return formatQuantity({ nanos: rounded * NANOS, format: "BinarySI" });
}
