import type { Pod } from "../../../api/gen/types.ts";
import type { PodReference } from "../../../api/pods.ts";
import { isAbort } from "../../../base/abort.ts";
import type { Clock } from "../../../base/clock.ts";
import { messageOf } from "../../../base/errors.ts";
import type { Timeline } from "../../../base/timeline.ts";
import type { PodVolumeSetUp } from "../../storage/volumes/pod-volumes.ts";
import { type VolumeComplaint, VolumeError } from "../../storage/volumes/volume-error.ts";
import type { StatusOverride } from "../workers/pod-state.ts";
import { RetryError } from "../workers/pod-syncer.ts";
import type { SyncingRun, SyncRun } from "./sync-run.ts";

export interface VolumeStepsDeps {
  clock: Pick<Clock, "now" | "monotonic">;
  timeline: Timeline;
  volumes: {
    /** Resolves when nothing is lacking; the work that `finished` waits for is done beside the sandbox's start. */
    setUp(pod: Pod, signal: AbortSignal): Promise<PodVolumeSetUp>;
    tearDown(uid: string, signal: AbortSignal): Promise<void>;
  };
  directories: { make(pod: Pod): Promise<void>; remove(uid: string): Promise<void> };
}

interface VolumeSteps {
  /**
   * Makes the pod's directories and sets up its volumes. A volume that cannot be had is an event of the pod; where it
   * may be there soon, the RetryError says when to look again.
   */
  setUpVolumes(run: SyncingRun): Promise<PodVolumeSetUp>;
  tearDownVolumes(run: SyncRun): Promise<void>;
  removeDirectories(run: SyncRun): Promise<void>;
}

export function createVolumeSteps({ clock, timeline, volumes, directories }: VolumeStepsDeps): VolumeSteps {
  const tell = (pod: PodReference, error: unknown): never => {
    if (isAbort(error)) throw error;
    for (const complaint of complaintsOf(error)) timeline.record(pod, { type: "Warning", ...complaint });
    const isRefused = error instanceof VolumeError && error.rejection !== undefined;
    if (isRefused || !(error instanceof VolumeError) || error.retryAfterMs === undefined) throw error;
    throw new RetryError(error.message, clock.now() + error.retryAfterMs);
  };

  return {
    async setUpVolumes({ pod, reference, signal, runtime }) {
      const begun = clock.monotonic();
      try {
        await directories.make(pod);
        const { volumes: ready, finished } = await volumes.setUp(pod, signal);
        const note = () => {
          // Each sync sets the volumes up again, which is no news once there is a sandbox.
          if (runtime.sandboxes.length > 0) return;
          const tookMs = Math.trunc(clock.monotonic() - begun);
          timeline.record(reference, { type: "Normal", reason: "VolumesReady", message: "Volumes are set up", tookMs });
        };
        const told = finished.then(note, (error: unknown) => tell(reference, error));
        told.catch(() => undefined);
        return { volumes: ready, finished: told };
      } catch (error) {
        return tell(reference, error);
      }
    },
    async tearDownVolumes({ reference, signal }) {
      await volumes.tearDown(reference.uid, signal);
    },
    async removeDirectories({ reference }) {
      await directories.remove(reference.uid);
    },
  };
}

/**
 * The status of a pod that never gets its volumes on this node, if it has not run here yet; undefined for other
 * errors.
 */
export function volumeRejection(error: unknown, { runtime }: SyncingRun): StatusOverride | undefined {
  const rejection = error instanceof VolumeError ? error.rejection : undefined;
  if (rejection === undefined || runtime.containers.length > 0) return undefined;
  return { phase: "Failed", reason: rejection.reason, message: `Pod was rejected: ${rejection.message}` };
}

function complaintsOf(error: unknown): readonly VolumeComplaint[] {
  if (error instanceof VolumeError) return error.complaints;
  return [{ reason: "FailedMount", message: messageOf(error) }];
}
