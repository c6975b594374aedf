import type { StatefulSet } from "../../../api/gen/types.ts";
import type { ObjectOf } from "../../../api/object.ts";
import { isPodReady } from "../../../api/pods.ts";
import { isPodAvailable } from "../pod-control/pod-standing.ts";
import { ordinalOf, ordinalRangeOf, podRevisionOf } from "./set-pod.ts";

type StoredPod = ObjectOf<"Pod">;

/** What to do with the pods of a stateful set now. */
interface StatefulSetPlan {
  /** The ordinals whose pods are to be made, each of the current or of the updated template. */
  readonly create: readonly PodCreation[];
  readonly remove: readonly StoredPod[];
  /** Pods that have ended although their ordinals are wanted: each is removed, so that another one can be made. */
  readonly replace: readonly StoredPod[];
  /** Pods that stay, whose labels and claims are brought in order. */
  readonly keep: readonly StoredPod[];
  /** Pods whose ordinals are given up, whose claims are brought in order before they go. */
  readonly condemned: readonly StoredPod[];
}

interface PodCreation {
  readonly ordinal: number;
  /** False for a pod of the current revision, which the update has not come to. */
  readonly isUpdated: boolean;
}

interface Circumstances {
  readonly pods: readonly StoredPod[];
  /** The name of the revision that the pods are to have in the end. */
  readonly updateRevision: string;
  /** True for an ordinal whose pod cannot be made yet, because a claim of its predecessor is still there. */
  readonly isBlocked: (ordinal: number) => boolean;
  readonly now: number;
}

/**
 * So many pods are made before the set is looked at again. A set may ask for two thousand million of them, so that
 * nothing here is done for each ordinal that is wanted.
 */
const MAX_CREATIONS = 500;

/** The ordinals that the set is to have, and the pods that are there. */
interface Replicas {
  readonly first: number;
  readonly end: number;
  readonly byOrdinal: ReadonlyMap<number, StoredPod>;
}

interface Step {
  readonly set: StatefulSet;
  readonly isOrdered: boolean;
  readonly circumstances: Circumstances;
  readonly plan: {
    create: PodCreation[];
    remove: StoredPod[];
    replace: StoredPod[];
    keep: StoredPod[];
    condemned: StoredPod[];
  };
}

/**
 * Plans by upstream's rules (`stateful_set_control.go`): first the pods that are wanted, from the lowest ordinal up,
 * then those that are too many, from the highest down, then the update, from the highest down to the partition. A set
 * that is ordered takes one step and waits until the pod before is available.
 */
export function planStatefulSet(set: StatefulSet, circumstances: Circumstances): StatefulSetPlan {
  const plan: Step["plan"] = { create: [], remove: [], replace: [], keep: [], condemned: [] };
  const step: Step = { set, isOrdered: set.spec?.podManagementPolicy !== "Parallel", circumstances, plan };
  if (set.metadata?.deletionTimestamp !== undefined) return plan;
  const { first, end } = ordinalRangeOf(set);
  const byOrdinal = new Map(circumstances.pods.map((pod) => [ordinalIn(set, pod), pod]));
  const replicas: Replicas = { first, end, byOrdinal };
  const condemned = [...byOrdinal]
    .filter(([ordinal]) => ordinal >= 0 && (ordinal < first || ordinal >= end))
    .toSorted(([a], [b]) => b - a)
    .map(([, pod]) => pod);
  if (!planReplicas(step, replicas)) return plan;
  plan.condemned.push(...condemned);
  if (planCondemned(step, condemned) && set.spec?.updateStrategy?.type !== "OnDelete") {
    planUpdate(step, replicas);
  }
  return plan;
}

const ordinalIn = (set: StatefulSet, { metadata }: StoredPod) => {
  return ordinalOf(set.metadata?.name ?? "", metadata.name ?? "") ?? -1;
};
const isDeleted = ({ metadata }: StoredPod) => metadata.deletionTimestamp !== undefined;

function isUnavailable({ set, circumstances }: Step, pod: StoredPod | undefined): boolean {
  return pod === undefined || isDeleted(pod) || !isAvailable(set, pod, circumstances.now);
}

function isAvailable({ spec }: StatefulSet, pod: StoredPod, now: number): boolean {
  return isPodAvailable(pod, spec?.minReadySeconds ?? 0, now);
}

/** Returns false where the set has to wait before it goes on: an ordered one for a pod, any for the pods that come later. */
function planReplicas(step: Step, { first, end, byOrdinal }: Replicas): boolean {
  const { set, isOrdered, circumstances, plan } = step;
  for (let ordinal = first; ordinal < end; ordinal++) {
    const pod = byOrdinal.get(ordinal);
    if (pod === undefined) {
      if (plan.create.length === MAX_CREATIONS) return false;
      if (!circumstances.isBlocked(ordinal)) plan.create.push({ ordinal, isUpdated: isMadeUpdated(set, ordinal) });
    } else if (pod.status?.phase === "Failed" || pod.status?.phase === "Succeeded") {
      if (!isDeleted(pod)) plan.replace.push(pod);
    } else {
      plan.keep.push(pod);
      if (isRunning(pod) && !isUnavailable(step, pod)) continue;
    }
    if (isOrdered) return false;
  }
  return true;
}

function isRunning(pod: StoredPod): boolean {
  return pod.status?.phase === "Running" && isPodReady(pod);
}

/** Pods below the partition are made of the current template for as long as the update is not theirs. */
function isMadeUpdated(set: StatefulSet, ordinal: number): boolean {
  const { type, rollingUpdate } = set.spec?.updateStrategy ?? {};
  if (type !== "RollingUpdate") return true;
  const { first } = ordinalRangeOf(set);
  const kept = rollingUpdate === undefined ? (set.status?.currentReplicas ?? 0) : (rollingUpdate.partition ?? 0);
  return ordinal >= first + kept;
}

/** Returns false where an ordered set has to wait before it goes on. All pods that an ordered set wants are available. */
function planCondemned(step: Step, condemned: readonly StoredPod[]): boolean {
  const { isOrdered, plan } = step;
  // A pod that is not available may go first, so that a set that cannot become healthy can be made smaller.
  const sick = condemned.findLast((pod) => isUnavailable(step, pod));
  for (const pod of condemned) {
    const isReady = isRunning(pod) && !isUnavailable(step, pod);
    if (isDeleted(pod)) {
      if (isOrdered) return false;
      continue;
    }
    if (isOrdered && !isReady && pod !== sick) return false;
    plan.remove.push(pod);
    if (isOrdered) return false;
  }
  return true;
}

/** Replaces one pod of an older revision, from the highest ordinal down, when all above it are available. */
function planUpdate(step: Step, { first, end, byOrdinal }: Replicas): void {
  const { set, circumstances, plan } = step;
  const { partition = 0 } = set.spec?.updateStrategy?.rollingUpdate ?? {};
  for (let ordinal = end - 1; ordinal >= first + partition; ordinal--) {
    const pod = byOrdinal.get(ordinal);
    if (pod !== undefined && podRevisionOf(pod) !== circumstances.updateRevision && !isDeleted(pod)) {
      if (!plan.replace.includes(pod)) plan.remove.push(pod);
      return;
    }
    if (isUnavailable(step, pod)) return;
  }
}
