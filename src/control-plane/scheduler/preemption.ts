import type { Cluster, NodeInfo, PendingPod } from "./cluster.ts";
import { withNode, withPods } from "./cluster.ts";
import { formatUnfit } from "./diagnosis.ts";
import type { FilteredOut } from "./filters/all-filters.ts";
import { createFitCheck } from "./fit.ts";
import type { Labels, PodInfo } from "./pod-info.ts";

/** Room for a pod on a node, at the cost of less important pods. */
export interface Preemption {
  readonly nodeName: string;
  readonly victims: readonly PodInfo[];
}

/** A disruption budget, as far as preemption looks at it. */
export interface Budget {
  readonly namespace: string;
  /** The number of disruptions that it still allows. */
  readonly allowed: number;
  /** The names of pods whose disruption is counted already. */
  readonly disrupted: ReadonlySet<string>;
  protects(labels: Labels): boolean;
}

interface PreemptionQuestion {
  readonly pod: PendingPod;
  readonly cluster: Cluster;
  /** Why each node was turned down. A node that is missing was ruled out together with all others. */
  readonly rejections: ReadonlyMap<string, FilteredOut>;
  readonly nominated: readonly PodInfo[];
  readonly budgets: readonly Budget[];
}

type PreemptionPlan =
  | { readonly kind: "preempt"; readonly preemption: Preemption }
  /** No pod is evicted. `keepsNomination` says that room is being made already and the pod waits for it. */
  | { readonly kind: "none"; readonly message: string; readonly keepsNomination: boolean };

const NOT_HELPFUL = "Preemption is not helpful for scheduling";
const NO_VICTIMS = "No preemption victims found for incoming pod";

/** Plans which pods to evict so that the pod fits (`framework/preemption`, `plugins/defaultpreemption`). */
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

/** Says why the pod may not have others evicted; undefined when it may. */
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
  /** The number of victims whose eviction breaks a budget. */
  readonly violations: number;
}

/** Removes all less important pods from the node, and then puts back as many as fit, the most important first. */
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

/** Orders by importance, the most important first; equally important pods by running time, the longest first. */
function compareImportance(a: PodInfo, b: PodInfo): number {
  return b.priority - a.priority || a.startedAt - b.startedAt || (a.key < b.key ? -1 : 1);
}

/**
 * Splits the pods into those whose eviction would break a budget and the others, when all of them are evicted in this
 * order.
 */
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

/** Priorities may be negative, but each further victim must increase the sum. */
const PRIORITY_OFFSET = 2 ** 31;

/**
 * Prefers the fewest broken budgets, then the least important victims, then the fewest victims, then those that ran for
 * the shortest time.
 */
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

/** A comparison without subtraction, because infinities have no difference. */
const compare = (a: number, b: number) => (a === b ? 0 : a < b ? -1 : 1);
