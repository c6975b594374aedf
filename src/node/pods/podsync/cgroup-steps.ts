import { computeQosClass } from "../../../api/qos.ts";
import { isAbort } from "../../../base/abort.ts";
import type { Clock } from "../../../base/clock.ts";
import { messageOf } from "../../../base/errors.ts";
import type { Timeline } from "../../../base/timeline.ts";
import type { PodCgroups } from "../../resources/cgroups/pod-cgroups.ts";
import type { SyncingRun, SyncRun } from "./sync-run.ts";

export interface CgroupStepsDeps {
  clock: Pick<Clock, "monotonic">;
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

const MADE = "CgroupMade";

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

export function createCgroupSteps({ clock, timeline, cgroups }: CgroupStepsDeps): CgroupSteps {
  return {
    async makeCgroup({ pod, reference, runtime, signal }) {
      if (cgroups === undefined) return;
      const isNew = runtime.sandboxes.length === 0;
      const begun = clock.monotonic();
      try {
        await cgroups.ensure(pod, { isNew, signal });
      } catch (error) {
        if (isAbort(error)) throw error;
        const message = `unable to ensure pod container exists: ${messageOf(error)}`;
        timeline.record(reference, { type: "Warning", reason: "FailedToCreatePodContainer", message });
        throw new PodCgroupError(reference.uid, error);
      }
      // A start that is tried again asks for the cgroup again, which is no news, and must not part what is counted in a row.
      if (!isNew || timeline.read(reference.uid).some(({ reason }) => reason === MADE)) return;
      const tookMs = Math.trunc(clock.monotonic() - begun);
      timeline.record(reference, { type: "Normal", reason: MADE, message: "Cgroup of the pod is made", tookMs });
    },
    async releaseCgroup({ pod, reference: { uid }, signal }) {
      await cgroups?.release({ uid, qosClass: pod && computeQosClass(pod) }, signal);
    },
  };
}
