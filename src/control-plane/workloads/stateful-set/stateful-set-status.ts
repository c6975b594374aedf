import type { Pod, StatefulSet, StatefulSetStatus } from "../../../api/gen/types.ts";
import { isPodReady } from "../../../api/pods.ts";
import { isPodAvailable } from "../pod-control/pod-standing.ts";
import { podRevisionOf } from "./set-pod.ts";

interface SetRevisions {
  /** The names of the revisions from which and to which the set is updated. */
  readonly current: string;
  readonly update: string;
  readonly collisionCount: number;
}

/** Counts the pods. When all are of the update's revision and ready, the update is the current revision. */
export function computeStatefulSetStatus(
  { metadata, spec, status }: StatefulSet,
  pods: readonly Pod[],
  { revisions, now }: { revisions: SetRevisions; now: number },
): StatefulSetStatus {
  const { current, update, collisionCount } = revisions;
  const running = pods.filter((pod) => pod.status?.phase === "Running" && isPodReady(pod));
  const standing = pods.filter((pod) => pod.metadata?.deletionTimestamp === undefined);
  const ofRevision = (name: string) => standing.filter((pod) => podRevisionOf(pod) === name).length;
  const updated = ofRevision(update);
  const wanted = spec?.replicas ?? 1;
  const isComplete =
    spec?.updateStrategy?.type === "RollingUpdate" &&
    [updated, running.length, pods.length].every((count) => count === wanted);
  const counts = {
    readyReplicas: running.length,
    currentReplicas: isComplete ? updated : ofRevision(current),
    updatedReplicas: updated,
  };
  return {
    ...(status?.conditions && { conditions: status.conditions }),
    ...(metadata?.generation !== undefined && { observedGeneration: metadata.generation }),
    replicas: pods.length,
    ...Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0)),
    availableReplicas: running.filter((pod) => isPodAvailable(pod, spec?.minReadySeconds ?? 0, now)).length,
    currentRevision: isComplete ? update : current,
    updateRevision: update,
    collisionCount,
  };
}
