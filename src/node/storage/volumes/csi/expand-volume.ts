import type { PersistentVolumeClaim, Pod } from "../../../../api/gen/types.ts";
import { quantityValue } from "../../../../api/quantity.ts";
import { isAbort } from "../../../../base/abort.ts";
import { formatTime } from "../../../../base/clock.ts";
import { messageOf } from "../../../../base/errors.ts";
import { type CsiDriver, type CsiVolumeUse, isCsiError, isFinalCsiError } from "../../../../csi/port.ts";
import { VolumeSetUpError } from "../volume-error.ts";
import { type ExpansionPlan, markExpanded, markExpanding, markFailed, planExpansion } from "./claim-expansion.ts";
import type { CsiPluginDeps } from "./csi-ports.ts";
import type { CsiVolume } from "./csi-volume.ts";
import { readSecret } from "./publish-inputs.ts";

interface ExpandRequest {
  readonly pod: Pod;
  readonly volume: CsiVolume;
  readonly driver: CsiDriver;
  readonly use: CsiVolumeUse;
  /** Where the volume is mounted for the pod. */
  readonly volumePath: string;
  readonly stagingPath: string | undefined;
  readonly nodeName: string;
  /** See `planExpansion`. */
  readonly knownSize: string | undefined;
  readonly signal: AbortSignal;
}

type Deps = Pick<CsiPluginDeps, "clock" | "objects" | "onEvent">;

/**
 * Grows the file system to the size of the volume. Resolves with the size that needs no further work of this node;
 * undefined where somebody else has to act first. Rejects where it should be tried again.
 */
export async function expandVolume(deps: Deps, request: ExpandRequest): Promise<string | undefined> {
  const { volume, driver, pod, knownSize } = request;
  if (volume.claimed === undefined) return undefined;
  const { persistentVolume, claim } = volume.claimed;
  const volumeSize = persistentVolume.spec?.capacity?.["storage"];
  const plan = planExpansion(claim, { volumeSize, knownSize });
  if (plan.kind === "wait" || volumeSize === undefined) return knownSize;
  if (plan.kind === "none" || !driver.capabilities.has("EXPAND_VOLUME")) return volumeSize;
  if (volume.readOnly) {
    const message = `MountVolume.NodeExpandVolume failed for volume "${volume.specName}" requested read-only file system`;
    deps.onEvent(pod, { type: "Warning", reason: "FileSystemResizeFailed", message });
    return volumeSize;
  }
  return await expand(deps, request, { plan, claim, volumeSize });
}

interface Growth {
  readonly plan: Extract<ExpansionPlan, { kind: "expand" }>;
  readonly claim: PersistentVolumeClaim;
  readonly volumeSize: string;
}

async function expand(deps: Deps, request: ExpandRequest, growth: Growth): Promise<string> {
  const { pod, volume, nodeName, signal } = request;
  const { plan, volumeSize } = growth;
  let { claim } = growth;
  if (plan.mark) claim = await deps.objects.updateClaimStatus(claim, markExpanding(claim), signal);
  try {
    await callExpand(deps, request, volumeSize);
  } catch (error) {
    if (isAbort(error)) throw error;
    // The driver does not expand volumes that are in use. The pod may use the volume all the same, and nobody asks again.
    if (isCsiError(error, "failed-precondition")) return volumeSize;
    if (plan.tell && isFinalCsiError(error)) await tellFailure(deps, { claim, signal }, error);
    throw new VolumeSetUpError("failed", `Expander.NodeExpand failed to expand the volume : ${messageOf(error)}`, {
      cause: error,
    });
  }
  const message = `MountVolume.NodeExpandVolume succeeded for volume "${volume.specName}" ${nodeName}`;
  deps.onEvent(pod, { type: "Normal", reason: "FileSystemResizeSuccessful", message });
  if (plan.tell) await deps.objects.updateClaimStatus(claim, markExpanded(claim, volumeSize), signal);
  return volumeSize;
}

async function callExpand(deps: Deps, request: ExpandRequest, volumeSize: string): Promise<void> {
  const { volume, driver, use, volumePath, stagingPath, signal } = request;
  const secrets = await readSecret(deps.objects, volume, "NodeExpandSecretRef", signal);
  const requiredBytes = quantityValue(volumeSize);
  await driver.node.expand(
    { volumeId: volume.handle, volumePath, stagingPath, requiredBytes, use, secrets },
    { signal },
  );
}

/** Writes the failure into the claim's status, for claims of resizers that use `allocatedResourceStatuses`. */
async function tellFailure(
  { clock, objects }: Deps,
  { claim, signal }: { claim: PersistentVolumeClaim; signal: AbortSignal },
  error: unknown,
): Promise<void> {
  if (claim.status?.allocatedResourceStatuses?.["storage"] === undefined) return;
  const isInfeasible = isCsiError(error, "invalid-argument", "out-of-range", "not-found");
  const status = markFailed(claim, { message: messageOf(error), isInfeasible, now: formatTime(clock.now()) });
  try {
    await objects.updateClaimStatus(claim, status, signal);
  } catch (failure) {
    // The driver's own error matters more than this one; the next attempt writes the status again.
    if (isAbort(failure)) throw failure;
  }
}
