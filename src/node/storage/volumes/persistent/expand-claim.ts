import type {
  PersistentVolume,
  PersistentVolumeClaim,
  PersistentVolumeClaimStatus,
  Pod,
} from "../../../../api/gen/types.ts";
import { isAbort } from "../../../../base/abort.ts";
import { type Clock, formatTime } from "../../../../base/clock.ts";
import { messageOf } from "../../../../base/errors.ts";
import { VolumeSetUpError } from "../volume-error.ts";
import {
  type ExpansionPlan,
  isOverruled,
  markExpanded,
  markExpanding,
  markFailed,
  planExpansion,
} from "./claim-expansion.ts";

/** A claimed volume of a pod, whose file system may have to grow. */
export interface ClaimedGrowth {
  readonly pod: Pod;
  /** The name of the volume in events. */
  readonly name: string;
  readonly claimed: { readonly persistentVolume: PersistentVolume; readonly claim: PersistentVolumeClaim };
  readonly readOnly: boolean;
  readonly nodeName: string;
  /** See `planExpansion`. */
  readonly knownSize: string | undefined;
  readonly signal: AbortSignal;
}

/** The kind's own way to grow. */
export interface GrowthStep {
  /** False: the volumes of this kind are never too small. */
  readonly canExpand: boolean;
  /** Grows the file system to this size at least. */
  expand(size: string): Promise<void>;
  /**
   * What an error of `expand` means. `declined`: the volume may be used as it is, and nobody asks again. `infeasible`: it
   * will fail again. `unsupported`: the node has no part in it, whatever its capabilities say. `final`: nothing is under way
   * any more. `unknown`: something may be.
   */
  judge(error: unknown): "declined" | "infeasible" | "unsupported" | "final" | "unknown";
}

export interface ExpandClaimDeps {
  readonly clock: Pick<Clock, "now">;
  /** Patches the claim's status to the new one; rejects where somebody else has changed it meanwhile. */
  updateClaimStatus(
    claim: PersistentVolumeClaim,
    status: PersistentVolumeClaimStatus,
    signal: AbortSignal,
  ): Promise<PersistentVolumeClaim>;
  onEvent(pod: Pod, event: { type: "Normal" | "Warning"; reason: string; message: string }): void;
}

/**
 * Grows the file system to the size of the volume, and tells the claim. Resolves with the size that needs no further work
 * of this node; undefined where somebody else has to act first. Rejects where it should be tried again.
 */
export async function expandClaim(
  deps: ExpandClaimDeps,
  growth: ClaimedGrowth,
  step: GrowthStep,
): Promise<string | undefined> {
  const { persistentVolume, claim } = growth.claimed;
  const { knownSize, pod, name } = growth;
  const volumeSize = persistentVolume.spec?.capacity?.["storage"];
  const plan = planExpansion(claim, { volumeSize, knownSize });
  if (plan.kind === "wait" || volumeSize === undefined) return knownSize;
  if (plan.kind === "none" || !step.canExpand) return volumeSize;
  if (growth.readOnly) {
    const message = `MountVolume.NodeExpandVolume failed for volume "${name}" requested read-only file system`;
    deps.onEvent(pod, { type: "Warning", reason: "FileSystemResizeFailed", message });
    return volumeSize;
  }
  return await expand(deps, growth, { step, plan, volumeSize });
}

interface PlannedGrowth {
  readonly step: GrowthStep;
  readonly plan: Extract<ExpansionPlan, { kind: "expand" }>;
  readonly volumeSize: string;
}

async function expand(
  deps: ExpandClaimDeps,
  { pod, name, claimed, nodeName, signal }: ClaimedGrowth,
  { step, plan, volumeSize }: PlannedGrowth,
): Promise<string> {
  let { claim } = claimed;
  if (plan.mark) claim = await deps.updateClaimStatus(claim, markExpanding(claim), signal);
  try {
    await step.expand(volumeSize);
  } catch (error) {
    if (isAbort(error)) throw error;
    const verdict = step.judge(error);
    if (verdict === "declined" || (verdict === "unsupported" && !isFollowed(claim))) return volumeSize;
    if (plan.tell && verdict !== "unknown") {
      const isInfeasible = verdict === "infeasible" || isOverruled(claim, volumeSize);
      await tellFailure(deps, { claim, signal }, { error, isInfeasible });
    }
    throw new VolumeSetUpError("failed", `Expander.NodeExpand failed to expand the volume : ${messageOf(error)}`, {
      cause: error,
    });
  }
  const message = `MountVolume.NodeExpandVolume succeeded for volume "${name}" ${nodeName}`;
  deps.onEvent(pod, { type: "Normal", reason: "FileSystemResizeSuccessful", message });
  if (plan.tell) await deps.updateClaimStatus(claim, markExpanded(claim, volumeSize), signal);
  return volumeSize;
}

/** Whether a resizer waits for what the claim's status tells of this node's work. */
function isFollowed({ status }: PersistentVolumeClaim): boolean {
  return status?.allocatedResourceStatuses?.["storage"] !== undefined;
}

/** Writes the failure into the claim's status, where a resizer reads it. */
async function tellFailure(
  { clock, updateClaimStatus }: ExpandClaimDeps,
  { claim, signal }: { claim: PersistentVolumeClaim; signal: AbortSignal },
  { error, isInfeasible }: { error: unknown; isInfeasible: boolean },
): Promise<void> {
  if (!isFollowed(claim)) return;
  const status = markFailed(claim, { message: messageOf(error), isInfeasible, now: formatTime(clock.now()) });
  try {
    await updateClaimStatus(claim, status, signal);
  } catch (failure) {
    // The step's own error matters more than this one; the next attempt writes the status again.
    if (isAbort(failure)) throw failure;
  }
}
