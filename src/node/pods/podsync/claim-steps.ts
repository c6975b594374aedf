import { isAbort } from "../../../base/abort.ts";
import type { Clock } from "../../../base/clock.ts";
import { messageOf } from "../../../base/errors.ts";
import type { Timeline } from "../../../base/timeline.ts";
import type { NodeDeviceClaims } from "../../resources/device-claims/node-device-claims.ts";
import type { SyncingRun, SyncRun } from "./sync-run.ts";

export interface ClaimStepsDeps {
  clock: Pick<Clock, "monotonic">;
  timeline: Timeline;
  /** Undefined on a node without an API server, where no pod has claims. */
  deviceClaims?: Pick<NodeDeviceClaims, "prepare" | "unprepare"> | undefined;
}

interface ClaimSteps {
  /** Makes the pod's device claims ready. A failure is an event of the pod. */
  prepareClaims(run: SyncingRun): Promise<void> | undefined;
  /** Gives them back to their drivers once nothing of the pod runs. */
  unprepareClaims(run: SyncRun): Promise<void> | undefined;
}

const READY = "ClaimsReady";

/** The pod's device claims are not ready; its event has told why. */
export class ClaimsNotReadyError extends Error {
  override readonly name = "ClaimsNotReadyError";
}

export function createClaimSteps({ clock, timeline, deviceClaims }: ClaimStepsDeps): ClaimSteps {
  const prepare = async (
    claims: Pick<NodeDeviceClaims, "prepare">,
    { pod, reference, runtime, signal }: SyncingRun,
  ) => {
    const begun = clock.monotonic();
    try {
      const hasSandbox = runtime.sandboxes.some(({ state }) => state === "ready");
      await claims.prepare(pod, { hasSandbox, signal });
    } catch (error) {
      if (isAbort(error)) throw error;
      const message = `Failed to prepare dynamic resources: prepare dynamic resources: ${messageOf(error)}`;
      timeline.record(reference, { type: "Warning", reason: "FailedPrepareDynamicResources", message });
      throw new ClaimsNotReadyError(message, { cause: error });
    }
    // Each sync asks for the claims again, which is no news.
    const isKnown = timeline.read(reference.uid).some(({ reason }) => reason === READY);
    if (isKnown || runtime.sandboxes.length > 0 || (pod.spec?.resourceClaims ?? []).length === 0) return;
    const tookMs = Math.trunc(clock.monotonic() - begun);
    timeline.record(reference, { type: "Normal", reason: READY, message: "Device claims are ready", tookMs });
  };
  return {
    prepareClaims: (run) => deviceClaims && prepare(deviceClaims, run),
    unprepareClaims: ({ reference, signal }) => deviceClaims?.unprepare(reference.uid, signal),
  };
}
