import { computeQosClass } from "../../../api/qos.ts";
import { isAbort } from "../../../base/abort.ts";
import { messageOf } from "../../../base/errors.ts";
import type { Timeline } from "../../../base/timeline.ts";
import type { PodCgroups } from "../../resources/cgroups/pod-cgroups.ts";
import type { SyncingRun, SyncRun } from "./sync-run.ts";

export interface CgroupStepsDeps {
  timeline: Timeline;
  /** Undefined where pods have no cgroups of their own. */
  cgroups: Pick<PodCgroups, "ensure" | "release"> | undefined;
}

interface CgroupSteps {
  /** Gives the pod its cgroup. A failure is an event of the pod, and the sync fails with PodCgroupError. */
  makeCgroup(run: SyncingRun): Promise<void>;
  /** Gives the pod's cgroup back; an orphan's is looked for in every QoS class, because its class is not known. */
  releaseCgroup(run: SyncRun): Promise<void>;
}

/** The pod's cgroup could not be made, and nothing of the pod is started without it. */
class PodCgroupError extends Error {
  override readonly name = "PodCgroupError";
  readonly uid: string;

  constructor(uid: string, cause: unknown) {
    super(`failed to ensure that the pod: ${uid} cgroups exist and are correctly applied: ${messageOf(cause)}`, {
      cause,
    });
    this.uid = uid;
  }
}

export function createCgroupSteps({ timeline, cgroups }: CgroupStepsDeps): CgroupSteps {
  return {
    async makeCgroup({ pod, reference, runtime, signal }) {
      try {
        await cgroups?.ensure(pod, { isNew: runtime.sandboxes.length === 0, signal });
      } catch (error) {
        if (isAbort(error)) throw error;
        const message = `unable to ensure pod container exists: ${messageOf(error)}`;
        timeline.record(reference, { type: "Warning", reason: "FailedToCreatePodContainer", message });
        throw new PodCgroupError(reference.uid, error);
      }
    },
    async releaseCgroup({ pod, reference: { uid }, signal }) {
      await cgroups?.release({ uid, qosClass: pod && computeQosClass(pod) }, signal);
    },
  };
}
