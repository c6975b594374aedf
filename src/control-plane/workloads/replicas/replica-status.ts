import type { Pod, ReplicaSetCondition, ReplicaSetStatus } from "../../../api/gen/types.ts";
import { isPodReady } from "../../../api/pods.ts";
import { formatTime } from "../../../base/clock.ts";
import { isPodAvailable } from "../pod-control/pod-standing.ts";
import type { ReplicaOwner } from "./replica-owner.ts";

/** What became of the attempt to have as many pods as are wanted. */
interface ReplicaFailure {
  readonly reason: "FailedCreate" | "FailedDelete";
  readonly message: string;
}

interface StatusInput {
  /** The pods that count as replicas. */
  readonly active: readonly Pod[];
  /** The number of pods that are being deleted; undefined for a kind that does not tell it. */
  readonly terminating: number | undefined;
  readonly failure: ReplicaFailure | undefined;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** The status of the owner by its pods (`calculateStatus` of upstream's replica set controller). */
export function computeReplicaStatus(owner: ReplicaOwner, input: StatusInput): ReplicaSetStatus {
  const { active, terminating, failure, now } = input;
  const wanted = Object.entries(owner.template.metadata?.labels ?? {});
  const isLabelled = ({ metadata }: Pod) => wanted.every(([label, value]) => metadata?.labels?.[label] === value);
  const count = (holds: (pod: Pod) => boolean) => active.filter(holds).length;
  const counts = {
    fullyLabeledReplicas: count(isLabelled),
    readyReplicas: count(isPodReady),
    availableReplicas: count((pod) => isPodAvailable(pod, owner.minReadySeconds, now)),
    observedGeneration: owner.object.metadata.generation ?? 0,
  };
  const conditions = withFailure(owner.status.conditions ?? [], failure, now);
  return {
    replicas: active.length,
    // A number that is zero is left out, as Go programs write it.
    ...Object.fromEntries(Object.entries(counts).filter(([, value]) => value > 0)),
    ...(terminating !== undefined && { terminatingReplicas: terminating }),
    ...(conditions.length > 0 && { conditions }),
  };
}

/** The conditions with or without the failure. A failure that is told already keeps its time and its first message. */
function withFailure(
  conditions: readonly ReplicaSetCondition[],
  failure: ReplicaFailure | undefined,
  now: number,
): ReplicaSetCondition[] {
  const told = conditions.find(({ type }) => type === "ReplicaFailure");
  const others = conditions.filter(({ type }) => type !== "ReplicaFailure");
  if (failure === undefined) return others;
  const fresh = { type: "ReplicaFailure", status: "True", lastTransitionTime: formatTime(now), ...failure };
  return [...others, told ?? fresh];
}
