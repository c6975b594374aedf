import type { Pod, PodStatus } from "../../../api/gen/types.ts";
import type { PodReference } from "../../../api/pods.ts";
import type { PodRuntimeStatus } from "../../runtime/reading/pod-runtime-status.ts";
import type { PodVolumeSetUp } from "../../storage/volumes/pod-volumes.ts";
import type { StatusOverride } from "../workers/pod-state.ts";
import type { SyncResult } from "../workers/pod-syncer.ts";

/** A pod as it was read from the runtime. */
export interface ReadPod {
  readonly reference: PodReference;
  /** Undefined for an orphan, of which nothing is published. */
  readonly pod: Pod | undefined;
  readonly phase: "syncing" | "terminating" | "terminated";
  runtime: PodRuntimeStatus;
  /** Takes precedence in the status over what the containers say. */
  override?: StatusOverride | undefined;
  /** The status that was published last. */
  status?: PodStatus | undefined;
}

/** One work on one pod, and what its steps hand on to each other. */
export interface SyncRun extends ReadPod {
  readonly signal: AbortSignal;
  /** What a step sets that ends the work. */
  result?: SyncResult | undefined;
}

/** The work on a pod that shall run. */
export interface SyncingRun extends SyncRun {
  readonly pod: Pod;
  /** What the containers may mount, once the volumes' step has come to it. */
  volumes?: PodVolumeSetUp;
  /** Why running containers could not be resized. */
  resizeError?: string;
  /** The latest time to look again, milliseconds since the epoch. */
  retryAt?: number;
}

/**
 * A step of a work. It throws where the pod cannot go on; the next attempt begins at the first step again, so every
 * step may be repeated.
 */
export type Step<Run extends SyncRun> = (run: Run) => Promise<void> | void;

/** Takes the steps in order, until one of them sets the run's result. */
export async function takeSteps<Run extends SyncRun>(steps: ReadonlyArray<Step<Run>>, run: Run): Promise<void> {
  for (const step of steps) {
    const outcome = step(run);
    // A step that does not wait is followed at once, so that nothing comes between a reading and what is published of
    // it.
    if (outcome instanceof Promise) await outcome;
    if (run.result !== undefined) return;
  }
}
