import type { Pod } from "../../../api/gen/types.ts";
import type { PodState } from "../workers/pod-state.ts";
import { referenceOf } from "../workers/pod-syncer.ts";
import type { LoopInbox } from "./loop-inbox.ts";
import { isToldOnce } from "./one-life.ts";

interface PodDepartureDeps {
  /** Told that nothing of a pod that some source named is left on the node, while its last status is still at hand. */
  onFinished(pod: Pod): void;
  /** The pod as its source wants it; undefined for one that none does. */
  wanted(uid: string): Pod | undefined;
  /** Drops what the node has told of the pod. */
  forgetStatus(uid: string): void;
  /** Drops what else the node holds of the pod. */
  forget(uid: string): void;
  readonly inbox: Pick<LoopInbox, "offerGone">;
}

/**
 * Takes leave of a pod whose worker has ended. The pod is forgotten at once and not when the loop hears of it: by then a
 * new pod of the same UID may be at work.
 */
export function createPodDeparture(deps: PodDepartureDeps): (last: PodState) => void {
  return ({ subject }) => {
    const { uid } = referenceOf(subject);
    if (subject.kind === "pod") deps.onFinished(subject.pod);
    if (!isToldOnce(deps.wanted(uid))) deps.forgetStatus(uid);
    deps.forget(uid);
    deps.inbox.offerGone(uid);
  };
}
