import { podReference } from "../../../api/pods.ts";
import { messageOf } from "../../../base/errors.ts";
import type { Timeline } from "../../../base/timeline.ts";
import { VolumeError } from "../../storage/volumes/volume-error.ts";
import type { PodState, WorkKind } from "../workers/pod-state.ts";
import { ClaimsNotReadyError } from "./claim-steps.ts";

/** Records in a pod's timeline that a work of its worker failed. No source has named an orphan, so it has no timeline. */
export function createFailureEvents({ timeline }: { readonly timeline: Pick<Timeline, "record"> }) {
  return ({ subject }: Pick<PodState, "subject">, work: WorkKind, error: unknown): void => {
    if (subject.kind !== "pod") return;
    const record = (reason: string, message: string) =>
      timeline.record(podReference(subject.pod), { type: "Warning", reason, message });
    if (work === "terminating") record("FailedKillPod", `error killing pod: ${messageOf(error)}`);
    // Volumes and claims that failed have told their pod already.
    else if (!(error instanceof VolumeError || error instanceof ClaimsNotReadyError))
      record("FailedSync", `Error syncing pod, will be tried again: ${messageOf(error)}`);
  };
}
