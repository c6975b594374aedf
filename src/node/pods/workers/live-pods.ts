import type { Pod } from "../../../api/gen/types.ts";
import { podUid } from "../../../api/pods.ts";
import type { PodState } from "./pod-state.ts";

/** Lists the pods of which something may still run: they take their part of the node's resources. */
export function listLivePods(states: ReadonlyMap<string, PodState>): Pod[] {
  return [...states.values()].flatMap(({ phase, subject }) => {
    const isOver = phase === "terminated" || phase === "finished";
    return subject.kind === "pod" && !isOver ? [subject.pod] : [];
  });
}

/**
 * Lists the same pods as their sources show them now. A worker keeps the pod that it was last given, and hears nothing of
 * statuses: what a container has got by a resize, and gave back, is in the newest only.
 */
export function listNewestPods(states: ReadonlyMap<string, PodState>, newest: (uid: string) => Pod | undefined): Pod[] {
  return listLivePods(states).map((pod) => newest(podUid(pod)) ?? pod);
}
