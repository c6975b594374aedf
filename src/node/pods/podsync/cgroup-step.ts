import type { Pod } from "../../../api/gen/types.ts";
import { podReference } from "../../../api/pods.ts";
import { computeQosClass } from "../../../api/qos.ts";
import { isAbort } from "../../../base/abort.ts";
import { messageOf } from "../../../base/errors.ts";
import type { Timeline } from "../../../base/timeline.ts";
import type { PodCgroups, ReleasedPod } from "../../resources/cgroups/pod-cgroups.ts";
import type { PodRuntimeStatus } from "../../runtime/reading/pod-runtime-status.ts";
import type { Subject } from "../workers/pod-state.ts";
import { referenceOf } from "../workers/pod-syncer.ts";

export interface CgroupStepDeps {
  timeline: Timeline;
  /** Default: pods have no cgroups of their own. */
  cgroups?: Pick<PodCgroups, "ensure" | "release"> | undefined;
}

/** The step of a sync that gives the pod its cgroup. What is in the way is an event of the pod, and the sync fails. */
export function createCgroupStep(
  deps: CgroupStepDeps,
): (pod: Pod, runtime: PodRuntimeStatus, signal: AbortSignal) => Promise<void> {
  return async (pod, { sandboxes }, signal) => {
    try {
      await deps.cgroups?.ensure(pod, { isNew: sandboxes.length === 0, signal });
    } catch (error) {
      if (isAbort(error)) throw error;
      const reference = podReference(pod);
      const message = `unable to ensure pod container exists: ${messageOf(error)}`;
      deps.timeline.record(reference, { type: "Warning", reason: "FailedToCreatePodContainer", message });
      const words = `failed to ensure that the pod: ${reference.uid} cgroups exist and are correctly applied`;
      throw new Error(`${words}: ${messageOf(error)}`, { cause: error });
    }
  };
}

/** Of an orphan nobody knows the class. */
export function releasedPodOf(subject: Subject): ReleasedPod {
  const qosClass = subject.kind === "pod" ? computeQosClass(subject.pod) : undefined;
  return { uid: referenceOf(subject).uid, qosClass };
}
