import type { PersistentVolumeClaim } from "../../api/gen/types.ts";
import { BIND_COMPLETED, BOUND_BY_CONTROLLER, withClaimRef } from "../claims/volume-claim-ref.ts";
import {
  type BinderDeps,
  enterPhase,
  type StoredClaim,
  type StoredVolume,
  writeClaim,
  writeVolume,
} from "./binder-deps.ts";
import { setClaimStatus } from "./claim-status.ts";

/**
 * Binds the claim and the volume to each other, the volume first: from then on no other claim gets it, and the next
 * look at either of them completes an interrupted binding. Writes only the missing parts.
 */
export async function bindClaim(deps: BinderDeps, claim: StoredClaim, volume: StoredVolume): Promise<void> {
  const reserved = withClaimRef(volume, claim);
  const referring = reserved === undefined ? volume : await writeVolume(deps, reserved);
  const bound = await enterPhase(deps, referring, { phase: "Bound" });
  const named = withVolumeName(claim, bound.metadata.name ?? "");
  const naming = named === undefined ? claim : await writeClaim(deps, named);
  await setClaimStatus(deps, naming, { phase: "Bound", volume: bound });
}

/** The claim with the volume's name; undefined when it says so already. */
function withVolumeName(claim: StoredClaim, volumeName: string): PersistentVolumeClaim | undefined {
  const { metadata, spec } = claim;
  const isNamed = spec?.volumeName === volumeName;
  if (isNamed && metadata.annotations?.[BIND_COMPLETED] !== undefined) return undefined;
  const annotations = {
    ...metadata.annotations,
    [BIND_COMPLETED]: "yes",
    ...(!isNamed && { [BOUND_BY_CONTROLLER]: "yes" }),
  };
  return { ...claim, metadata: { ...metadata, annotations }, spec: { ...spec, volumeName } };
}

/**
 * Takes the volume from a claim that has another one. A volume that its author reserved stays reserved for a claim of
 * that name.
 */
export async function unbind(deps: BinderDeps, volume: StoredVolume): Promise<void> {
  const { [BOUND_BY_CONTROLLER]: byController, ...annotations } = volume.metadata.annotations ?? {};
  const { claimRef, ...spec } = volume.spec ?? {};
  const { uid: _uid, resourceVersion: _version, ...reservation } = claimRef ?? {};
  const next =
    byController === undefined
      ? { ...volume, spec: { ...spec, claimRef: reservation } }
      : { ...volume, metadata: { ...volume.metadata, annotations }, spec };
  await enterPhase(deps, await writeVolume(deps, next), { phase: "Available" });
}
