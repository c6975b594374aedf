import type { Pod } from "../../../api/gen/types.ts";
import type { PodState } from "../workers/pod-state.ts";
import { referenceOf } from "../workers/pod-syncer.ts";
import type { LoopInbox } from "./loop-inbox.ts";

interface PodDepartureDeps {
  /** Told that nothing of a pod that some source named is left on the node, while its last status is still at hand. */
  onFinished(pod: Pod): void;
  /** Drops what the node holds of the pod. */
  forget(uid: string): void;
  readonly inbox: Pick<LoopInbox, "offerGone">;
}

/**
 * Takes leave of a pod whose worker has ended. The pod is forgotten at once and not when the loop hears of it: by then a
 * new pod of the same UID may be at work.
 */
export function createPodDeparture({ onFinished, forget, inbox }: PodDepartureDeps): (last: PodState) => void {
  return ({ subject }) => {
    const { uid } = referenceOf(subject);
    if (subject.kind === "pod") onFinished(subject.pod);
    forget(uid);
    inbox.offerGone(uid);
  };
}
