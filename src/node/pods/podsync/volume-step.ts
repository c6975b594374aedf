import type { Pod } from "../../../api/gen/types.ts";
import { podReference } from "../../../api/pods.ts";
import { isAbort } from "../../../base/abort.ts";
import type { Clock } from "../../../base/clock.ts";
import { messageOf } from "../../../base/errors.ts";
import type { Timeline } from "../../../base/timeline.ts";
import type { PodVolumeSetUp } from "../../storage/volumes/pod-volumes.ts";
import { type VolumeComplaint, VolumeError } from "../../storage/volumes/volume-error.ts";
import { RetryError } from "../workers/pod-syncer.ts";

export interface VolumeStepDeps {
  clock: Pick<Clock, "now">;
  timeline: Timeline;
  volumes: {
    /** Resolves when nothing is lacking; what `finished` waits for is done beside the sandbox's start. */
    setUp(pod: Pod, signal: AbortSignal): Promise<PodVolumeSetUp>;
  };
  directories: { make(pod: Pod): Promise<void> };
}

/**
 * The step of a sync that gives the pod its directories and volumes. What cannot be had is an event of the pod; where it
 * may be there soon, the error says when to look again.
 */
export function createVolumeStep(deps: VolumeStepDeps): (pod: Pod, signal: AbortSignal) => Promise<PodVolumeSetUp> {
  const tell = (pod: Pod, error: unknown): never => {
    if (isAbort(error)) throw error;
    for (const complaint of complaintsOf(error)) {
      deps.timeline.record(podReference(pod), { type: "Warning", ...complaint });
    }
    const isRefused = error instanceof VolumeError && error.rejection !== undefined;
    if (isRefused || !(error instanceof VolumeError) || error.retryAfterMs === undefined) throw error;
    throw new RetryError(error.message, deps.clock.now() + error.retryAfterMs);
  };

  return async (pod, signal) => {
    try {
      await deps.directories.make(pod);
      const { volumes, finished } = await deps.volumes.setUp(pod, signal);
      const told = finished.catch((error: unknown) => tell(pod, error));
      told.catch(() => undefined);
      return { volumes, finished: told };
    } catch (error) {
      return tell(pod, error);
    }
  };
}

function complaintsOf(error: unknown): readonly VolumeComplaint[] {
  if (error instanceof VolumeError) return error.complaints;
  return [{ reason: "FailedMount", message: messageOf(error) }];
}
