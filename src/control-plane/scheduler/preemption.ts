import type { Cluster, NodeInfo, PendingPod } from "./cluster.ts";
import { withNode, withPods } from "./cluster.ts";
import { formatUnfit } from "./diagnosis.ts";
import type { FilteredOut } from "./filters/all-filters.ts";
import { createFitCheck } from "./fit.ts";
import type { Labels, PodInfo } from "./pod-info.ts";

/** Room for a pod, at the cost of less important ones. */
export interface Preemption {
  readonly nodeName: string;
  readonly victims: readonly PodInfo[];
}

/** A disruption budget, as far as it says whose disruption it would be. */
export interface Budget {
  readonly namespace: string;
  /** How many more disruptions it allows. */
  readonly allowed: number;
  /** Pods whose disruption is counted already. */
  readonly disrupted: ReadonlySet<string>;
  protects(labels: Labels): boolean;
}

interface PreemptionQuestion {
  readonly pod: PendingPod;
  readonly cluster: Cluster;
  /** Why each node was turned down; a node that is missing was ruled out with all others. */
  readonly rejections: ReadonlyMap<string, FilteredOut>;
  readonly nominated: readonly PodInfo[];
  readonly budgets: readonly Budget[];
}

type PreemptionPlan =
  | { readonly kind: "preempt"; readonly preemption: Preemption }
  /** `keepsNomination`: room is being made already, and is waited for. */
  | { readonly kind: "none"; readonly message: string; readonly keepsNomination: boolean };

const NOT_HELPFUL = "Preemption is not helpful for scheduling";
const NO_VICTIMS = "No preemption victims found for incoming pod";

/** Whom to send away so that the pod fits (`framework/preemption`, `plugins/defaultpreemption`). */
export function planPreemption(question: PreemptionQuestion): PreemptionPlan {
  const { cluster, rejections } = question;
  const hindrance = checkEligible(question);
  if (hindrance !== undefined) return { kind: "none", message: hindrance, keepsNomination: true };
  const candidates: Candidate[] = [];
  const reasons: Array<readonly string[]> = [];
  for (const node of cluster.nodes) {
    const rejection = rejections.get(node.name);
    const choice =
      rejection === undefined || rejection.isFinal ? { reasons: [NOT_HELPFUL] } : chooseVictims(question, node);
    if ("victims" in choice) candidates.push(choice);
    else reasons.push(choice.reasons);
  }
  const best = candidates.toSorted(compareCandidates)[0];
  if (best === undefined) {
    return { kind: "none", message: formatUnfit(cluster.nodes.length, { reasons }), keepsNomination: false };
  }
  const { nodeName, victims } = best;
  return { kind: "preempt", preemption: { nodeName, victims } };
}

/** Undefined when the pod may send others away. */
function checkEligible({ pod, cluster, rejections }: PreemptionQuestion): string | undefined {
  if (pod.spec.preemptionPolicy === "Never") return "not eligible due to preemptionPolicy=Never.";
  const { nominatedNode, priority } = pod.info;
  const rejection = rejections.get(nominatedNode);
  if (rejection === undefined || rejection.isFinal) return undefined;
  const node = cluster.nodes.find(({ name }) => name === nominatedNode);
  const isUnderWay = (node?.pods ?? []).some((other) => {
    return other.priority < priority && other.isTerminating && other.isPreempted;
  });
  return isUnderWay ? "not eligible due to a terminating pod on the nominated node." : undefined;
}

interface Candidate extends Preemption {
  /** How many victims a budget would have kept. */
  readonly violations: number;
}

/** Takes all less important pods away, and then puts back whom it can, the most important first. */
function chooseVictims(
  { pod, cluster, nominated, budgets }: PreemptionQuestion,
  node: NodeInfo,
): Candidate | { readonly reasons: readonly string[] } {
  const lower = node.pods.filter(({ priority }) => priority < pod.info.priority);
  if (lower.length === 0) return { reasons: [NO_VICTIMS] };
  const checkWith = (pods: readonly PodInfo[]) => {
    const emptied = withPods(node, pods);
    return createFitCheck(pod, withNode(cluster, emptied), nominated)(emptied);
  };
  let staying = node.pods.filter((other) => !lower.includes(other));
  const rejection = checkWith(staying);
  if (rejection !== undefined) return { reasons: rejection.reasons };
  const { violating, others } = splitByBudgets(lower.toSorted(compareImportance), budgets);
  const victims: PodInfo[] = [];
  const keepOrTake = (other: PodInfo): boolean => {
    if (checkWith([...staying, other]) === undefined) {
      staying = [...staying, other];
      return false;
    }
    victims.push(other);
    return true;
  };
  const violations = violating.filter(keepOrTake).length;
  for (const other of others) keepOrTake(other);
  return { nodeName: node.name, victims: victims.toSorted(compareImportance), violations };
}

/** More important first; of equals, who runs longer. */
function compareImportance(a: PodInfo, b: PodInfo): number {
  return b.priority - a.priority || a.startedAt - b.startedAt || (a.key < b.key ? -1 : 1);
}

/** Whose eviction a budget would refuse, when all of them went in this order. */
function splitByBudgets(pods: readonly PodInfo[], budgets: readonly Budget[]) {
  const allowed = new Map(budgets.map((budget) => [budget, budget.allowed]));
  const violating: PodInfo[] = [];
  const others: PodInfo[] = [];
  for (const pod of pods) {
    let isViolating = false;
    for (const budget of budgets) {
      if (budget.namespace !== pod.namespace || budget.disrupted.has(pod.name) || !budget.protects(pod.labels))
        continue;
      const left = (allowed.get(budget) ?? 0) - 1;
      allowed.set(budget, left);
      if (left < 0) isViolating = true;
    }
    (isViolating ? violating : others).push(pod);
  }
  return { violating, others };
}

/** Priorities may be negative, and one victim more must always count for more. */
const PRIORITY_OFFSET = 2 ** 31;

/** Fewest broken budgets, least important victims, fewest of them, and those that ran shortest. */
function compareCandidates(a: Candidate, b: Candidate): number {
  const sum = ({ victims }: Candidate) =>
    victims.reduce((total, { priority }) => total + priority + PRIORITY_OFFSET, 0);
  const highest = ({ victims }: Candidate) => victims[0]?.priority ?? Number.NEGATIVE_INFINITY;
  const earliest = ({ victims }: Candidate) => {
    const first = victims.filter(({ priority }) => priority === victims[0]?.priority);
    return Math.min(...first.map(({ startedAt }) => startedAt));
  };
  return (
    a.violations - b.violations ||
    compare(highest(a), highest(b)) ||
    sum(a) - sum(b) ||
    a.victims.length - b.victims.length ||
    compare(earliest(b), earliest(a))
  );
}

/** Infinities have no difference. */
const compare = (a: number, b: number) => (a === b ? 0 : a < b ? -1 : 1);
