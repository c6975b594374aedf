import { hasSameVolumeMode } from "../claims/volume-match.ts";
import { namespacedKeyOf } from "../control-loop/namespaced-key.ts";
import { unbind } from "./bind-claim.ts";
import {
  type BinderDeps,
  enterPhase,
  readClaim,
  readVolume,
  type StoredClaim,
  type StoredVolume,
} from "./binder-deps.ts";
import { PROVISIONED_BY, reclaim } from "./reclaim-volume.ts";

/**
 * Brings a volume into the phase that follows from its claim (`pv_controller.go`, `syncVolume`). Returns the key of the
 * claim that has to be looked at, if any.
 */
export async function syncVolume(deps: BinderDeps, name: string): Promise<string | undefined> {
  const volume = readVolume(deps, name);
  if (volume === undefined) return undefined;
  const { claimRef } = volume.spec ?? {};
  // A volume that is reserved for a claim that does not exist yet is available too.
  if (!claimRef?.uid) {
    await enterPhase(deps, volume, { phase: "Available" });
    return claimRef && namespacedKeyOf(claimRef);
  }
  const found = readClaim(deps, namespacedKeyOf(claimRef));
  const claim = found?.metadata.uid === claimRef.uid ? found : undefined;
  if (claim === undefined) await release(deps, volume);
  else if (!claim.spec?.volumeName) return reportMismatch(deps, volume, claim) ? undefined : namespacedKeyOf(claimRef);
  else if (claim.spec.volumeName === name) await enterPhase(deps, volume, { phase: "Bound" });
  else await leave(deps, volume);
  return undefined;
}

/** Releases a volume whose claim is gone. A volume in the phase Failed stays in it. */
async function release(deps: BinderDeps, volume: StoredVolume): Promise<void> {
  const isOver = volume.status?.phase === "Released" || volume.status?.phase === "Failed";
  await reclaim(deps, isOver ? volume : await enterPhase(deps, volume, { phase: "Released" }));
}

/**
 * Handles a volume whose claim has another volume. A volume that was made for this claim alone is released, because no
 * other claim can use it.
 */
async function leave(deps: BinderDeps, volume: StoredVolume): Promise<void> {
  const isMade = volume.metadata.annotations?.[PROVISIONED_BY] !== undefined;
  if (isMade && volume.spec?.persistentVolumeReclaimPolicy === "Delete") await release(deps, volume);
  else await unbind(deps, volume);
}

/** Records an event when the two can never be bound. Returns whether it did. */
function reportMismatch({ events }: BinderDeps, volume: StoredVolume, claim: StoredClaim): boolean {
  if (hasSameVolumeMode(volume, claim)) return false;
  const why = "due to incompatible volumeMode.";
  const [volumeName, claimName] = [volume.metadata.name ?? "", claim.metadata.name ?? ""];
  const event = { type: "Warning", reason: "VolumeMismatch" } as const;
  const ofVolume = `Cannot bind PersistentVolume to requested PersistentVolumeClaim "${claimName}" ${why}`;
  const ofClaim = `Cannot bind PersistentVolume "${volumeName}" to requested PersistentVolumeClaim ${why}`;
  events.record({ about: volume, ...event, message: ofVolume });
  events.record({ about: claim, ...event, message: ofClaim });
  return true;
}
