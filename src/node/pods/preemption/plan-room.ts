import type { Pod } from "../../../api/gen/types.ts";
import { computeRequests } from "../../../api/pod-requests.ts";
import { isCriticalPod, podReference } from "../../../api/pods.ts";
import { computeQosClass, type QosClass } from "../../../api/qos.ts";

/** The amount of a resource that has to become free: millicores of `cpu`, bytes or pieces of any other. */
export interface Requirement {
  readonly resource: string;
  readonly amount: bigint;
}

/** The pods whose place a critical pod may get. */
interface Occupants {
  /** Admitted pods that are not about to end. */
  readonly running: readonly Pod[];
  /** Pods that are about to end for any reason: their place becomes free anyway. */
  readonly leaving: readonly Pod[];
}

interface RoomPlan {
  /** The pods that have to end for it; empty where it is enough to wait. */
  readonly victims: readonly Pod[];
  /** The pods that end anyway and have to be waited for. */
  readonly awaited: readonly Pod[];
  /** The resources that would be missing even if all preemptable pods ended; in this case no pod is to end. */
  readonly unmet: readonly Requirement[];
}

/** A pod with the resources that it would give back. */
interface Candidate {
  readonly pod: Pod;
  give(resource: string): bigint;
}

/** The QoS classes in the order of the harm that a preemption does, the least first. */
const CLASSES = ["BestEffort", "Burstable", "Guaranteed"] as const satisfies readonly QosClass[];

/**
 * Chooses the pods that end for a critical pod, as upstream does (`getPodsToPreempt` in
 * pkg/kubelet/preemption/preemption.go): as few guaranteed pods as possible, then as few burstable ones, then as few of
 * best effort; among equals those that ask for little. Beyond upstream, the place of pods that end anyway is counted
 * first, and no pod is chosen that the others make superfluous.
 */
export function planRoom(pod: Pod, requirements: readonly Requirement[], occupants: Occupants): RoomPlan {
  const leaving = occupants.leaving.map(candidateOf);
  const missing = subtract(requirements, leaving);
  const awaited = withoutSuperfluous(
    leaving.filter((candidate) => distance(requirements, candidate) < requirements.length),
    // Where the pods that end anyway do not free enough of a resource, all of them are waited for.
    requirements.map(({ resource, amount }) => ({ resource, amount: minimum(amount, sumOf(leaving, resource)) })),
  ).map((candidate) => candidate.pod);
  const preemptable = occupants.running.filter((other) => isPreemptable(pod, other));
  const [bestEffort = [], burstable = [], guaranteed = []] = CLASSES.map((qos) =>
    preemptable.filter((other) => computeQosClass(other) === qos).map(candidateOf),
  );
  const unmet = subtract(missing, [...bestEffort, ...burstable, ...guaranteed]);
  if (unmet.length > 0) return { victims: [], awaited: [], unmet };
  const last = chooseNearest(guaranteed, subtract(missing, [...bestEffort, ...burstable]));
  const middle = chooseNearest(burstable, subtract(missing, [...bestEffort, ...last]));
  const first = chooseNearest(bestEffort, subtract(missing, [...middle, ...last]));
  const victims = withoutSuperfluous([...last, ...middle, ...first], missing).toReversed();
  return { victims: victims.map((candidate) => candidate.pod), awaited, unmet: [] };
}

/** Upstream's `Preemptable` (pkg/kubelet/types/pod_update.go). */
function isPreemptable(preemptor: Pod, other: Pod): boolean {
  if (isCriticalPod(preemptor) && !isCriticalPod(other)) return true;
  const [mine, theirs] = [preemptor.spec?.priority, other.spec?.priority];
  return mine !== undefined && theirs !== undefined && mine > theirs;
}

function candidateOf(pod: Pod): Candidate {
  const requests = computeRequests(pod);
  return { pod, give: (resource) => (resource === "pods" ? 1n : (requests.get(resource) ?? 0n)) };
}

/** Chooses the pod that leaves least to be freed, repeatedly until nothing is left; the candidates must suffice. */
function chooseNearest(candidates: readonly Candidate[], requirements: readonly Requirement[]): Candidate[] {
  const left = candidates.toSorted(byHarm);
  const chosen: Candidate[] = [];
  for (let missing = requirements; missing.length > 0; missing = subtract(requirements, chosen)) {
    const distances = left.map((candidate) => distance(missing, candidate));
    const nearest = distances.indexOf(Math.min(...distances));
    const [best] = left.splice(nearest, 1);
    if (best === undefined) throw new Error("these pods were to suffice");
    chosen.push(best);
  }
  return chosen;
}

/** Orders pods that are equally near: upstream's `smallerResourceRequest` first, then the lower priority. */
function byHarm(a: Candidate, b: Candidate): number {
  for (const resource of ["memory", "cpu"]) {
    const [one, other] = [a.give(resource), b.give(resource)];
    if (one !== other) return one < other ? -1 : 1;
  }
  const priority = (a.pod.spec?.priority ?? 0) - (b.pod.spec?.priority ?? 0);
  if (priority !== 0) return priority;
  return podReference(a.pod).uid < podReference(b.pod).uid ? -1 : 1;
}

/** The remaining share of each requirement, squared: no requirement weighs more because its numbers are greater. */
function distance(requirements: readonly Requirement[], candidate: Candidate): number {
  return requirements.reduce((sum, { resource, amount }) => {
    const left = Number(amount - candidate.give(resource));
    return left > 0 ? sum + (left / Number(amount)) ** 2 : sum;
  }, 0);
}

/** Lets pods off that are superfluous; the earlier ones, whose end is the greater harm, are let off first. */
function withoutSuperfluous(candidates: readonly Candidate[], requirements: readonly Requirement[]): Candidate[] {
  let kept = [...candidates];
  for (const candidate of candidates) {
    const others = kept.filter((other) => other !== candidate);
    if (subtract(requirements, others).length === 0) kept = others;
  }
  return kept;
}

function subtract(requirements: readonly Requirement[], candidates: readonly Candidate[]): Requirement[] {
  return requirements
    .map(({ resource, amount }) => ({ resource, amount: amount - sumOf(candidates, resource) }))
    .filter(({ amount }) => amount > 0n);
}

function sumOf(candidates: readonly Candidate[], resource: string): bigint {
  return candidates.reduce((sum, candidate) => sum + candidate.give(resource), 0n);
}

function minimum(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}
