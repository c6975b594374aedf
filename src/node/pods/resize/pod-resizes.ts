import type { Node, Pod } from "../../../api/gen/types.ts";
import { computeRequests } from "../../../api/pod-requests.ts";
import { podUid } from "../../../api/pods.ts";
import { computeQosClass } from "../../../api/qos.ts";
import { parseTime } from "../../../base/clock.ts";
import { asksFor, resourceInfoOf, withResources } from "../../resources/records/pod-resource-info.ts";
import type { ResourceRecords } from "../../resources/records/resource-records.ts";
import type { PodVerdict } from "../admission/pod-admission.ts";
import { findUnmetPredicates } from "../admission/predicates.ts";
import type { InfeasibleRule } from "./infeasible-resizes.ts";
import type { ResizeConditions } from "./resize-conditions.ts";
import type { ResizeMetrics, RetryTrigger } from "./resize-metrics.ts";

/**
 * What the node has granted its pods, and the resizes that it grants: at once where there is room, later where others have
 * to give it back first (upstream: pkg/kubelet/allocation). It belongs to the sync loop, which asks one thing at a time.
 */
interface PodResizes {
  /** The pod with what it was granted; the pod itself where that is what it asks for. */
  allocated(pod: Pod): Pod;
  /** Asks for a new pod with what it was granted before, if it was, and grants what is admitted. */
  admit(pod: Pod): PodVerdict;
  /**
   * Looks at the pods of the node that run, as their sources want them, and grants what fits. The pods whose allocation or
   * conditions changed are synced.
   */
  review(pods: readonly Pod[]): void;
  forget(uid: string): void;
}

interface PodResizesDeps {
  readonly records: ResourceRecords;
  readonly conditions: Pick<ResizeConditions, "of" | "adopt" | "pend" | "start" | "clearPending" | "forget">;
  /** Whether a new pod may run here. */
  admit(pod: Pod): PodVerdict;
  /** The pod has to be synced: it was granted something, or what is told of it has changed. */
  sync(pod: Pod): void;
  /** Why the pod can never have what it asks for instead of what it was granted. Default: nothing is impossible. */
  findInfeasible?: InfeasibleRule | undefined;
  readonly metrics: ResizeMetrics;
  /** Whether a source names the pod. */
  isNamed(uid: string): boolean;
  /** The node object as it was last seen. */
  node(): Node;
}

export function createPodResizes(deps: PodResizesDeps): PodResizes {
  const { records, conditions } = deps;
  const allocated = (pod: Pod): Pod => withResources(pod, records.get(podUid(pod)));

  /** Grants the resize of a pod where the others leave room for it; true where anything changed. */
  const decide = (pod: Pod, others: readonly Pod[], trigger: RetryTrigger): boolean => {
    const uid = podUid(pod);
    const before = describe(conditions.of(uid));
    const infeasible = deps.findInfeasible?.(pod, allocated(pod));
    if (infeasible !== undefined) {
      conditions.pend(pod, infeasible);
      const isNews = describe(conditions.of(uid)) !== before;
      if (isNews) deps.metrics.infeasible(infeasible.detail);
      return isNews;
    }
    const [unmet] = findUnmetPredicates({ pod, node: deps.node(), others: others.map(allocated) });
    // Labels and taints do not end a running pod, nor do they keep it from another size.
    if (unmet?.missing === undefined) {
      if (conditions.of(uid).some(({ reason }) => reason === "Deferred")) deps.metrics.acceptedLater(trigger);
      records.set(uid, resourceInfoOf(pod));
      conditions.start(pod);
      return true;
    }
    conditions.pend(pod, unmet);
    return describe(conditions.of(uid)) !== before;
  };

  return {
    allocated,
    admit(pod) {
      const granted = allocated(pod);
      const verdict = deps.admit(granted);
      if (verdict !== undefined) return verdict;
      records.set(podUid(pod), resourceInfoOf(granted));
      conditions.adopt(pod);
      return undefined;
    },
    review(pods) {
      const trigger = deps.metrics.see(pods, deps.isNamed);
      const asking: Pod[] = [];
      for (const pod of pods) {
        const uid = podUid(pod);
        const info = records.get(uid);
        if (info === undefined || asksFor(pod, info)) {
          if (!conditions.of(uid).some(({ type }) => type === "PodResizePending")) continue;
          conditions.clearPending(uid);
          deps.sync(pod);
        } else asking.push(pod);
      }
      if (asking.length === 0) return;
      for (const pod of rankResizes(asking, { allocated, pendingSince: (uid) => pendingSince(conditions.of(uid)) })) {
        const others = pods.filter((other) => podUid(other) !== podUid(pod));
        if (decide(pod, others, trigger)) deps.sync(pod);
      }
    },
    forget(uid) {
      records.forget(uid);
      conditions.forget(uid);
    },
  };
}

interface RankInput {
  allocated(pod: Pod): Pod;
  /** Milliseconds since the epoch; undefined for a resize that has not been judged yet. */
  pendingSince(uid: string): number | undefined;
}

/**
 * The order in which resizes are granted: those that ask for no more come first, then by priority, then guaranteed pods,
 * then those that have waited the longest (upstream: `sortPendingResizes`).
 */
export function rankResizes(pods: readonly Pod[], { allocated, pendingSince }: RankInput): Pod[] {
  const ranked = pods.map((pod) => ({
    pod,
    rank: [
      isIncreasing(allocated(pod), pod) ? 1 : 0,
      -(pod.spec?.priority ?? 0),
      computeQosClass(pod) === "Guaranteed" ? 0 : 1,
      pendingSince(podUid(pod)) ?? Number.MAX_SAFE_INTEGER,
    ],
  }));
  return ranked.sort((a, b) => compareRanks(a.rank, b.rank)).map(({ pod }) => pod);
}

function compareRanks(a: readonly number[], b: readonly number[]): number {
  const index = a.findIndex((value, at) => value !== b[at]);
  return index < 0 ? 0 : (a[index] ?? 0) - (b[index] ?? 0);
}

function isIncreasing(granted: Pod, asked: Pod): boolean {
  const bare = ({ status: _status, ...pod }: Pod): Pod => pod;
  const [before, after] = [computeRequests(bare(granted)), computeRequests(bare(asked))];
  return ["cpu", "memory"].some((name) => (after.get(name) ?? 0n) > (before.get(name) ?? 0n));
}

function pendingSince(conditions: ReturnType<ResizeConditions["of"]>): number | undefined {
  return parseTime(conditions.find(({ type }) => type === "PodResizePending")?.lastProbeTime);
}

function describe(conditions: ReturnType<ResizeConditions["of"]>): string {
  return JSON.stringify(conditions.map(({ lastProbeTime: _time, ...condition }) => condition));
}
