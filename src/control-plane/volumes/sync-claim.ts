import type { StorageClass } from "../../api/gen/types.ts";
import { typed } from "../../api/object.ts";
import { findDefaultClass } from "../claims/default-class.ts";
import { isPodTerminated } from "../claims/pod-claims.ts";
import { BIND_COMPLETED, SELECTED_NODE } from "../claims/volume-claim-ref.ts";
import {
  findMatchingVolume,
  hasSameVolumeMode,
  hasStorageClass,
  isDelayedClass,
  isLargeEnough,
  isReservedFor,
  offersAccessModes,
  storageClassOf,
} from "../claims/volume-match.ts";
import { podNameOf } from "../control-loop/pods-by-node.ts";
import { bindClaim } from "./bind-claim.ts";
import {
  type BinderDeps,
  type BinderEvent,
  readClaim,
  readVolume,
  STORAGE_CLASSES,
  type StoredClaim,
  type StoredVolume,
  VOLUMES,
  writeClaim,
} from "./binder-deps.ts";
import { setClaimStatus } from "./claim-status.ts";
import { requestProvisioning } from "./request-provisioning.ts";

/** Binds a claim to its volume, or records why there is none (`pv_controller.go`, `syncClaim`). */
export async function syncClaim(deps: BinderDeps, key: string): Promise<void> {
  const claim = readClaim(deps, key);
  if (claim === undefined) return;
  if (claim.metadata.annotations?.[BIND_COMPLETED] !== undefined) await syncBound(deps, claim);
  else if (claim.spec?.volumeName) await syncRequested(deps, claim, claim.spec.volumeName);
  else await syncUnbound(deps, claim, key);
}

/** Handles a claim that was bound once. It stays with its volume, and is lost when the volume is gone. */
async function syncBound(deps: BinderDeps, claim: StoredClaim): Promise<void> {
  const lose = async (reason: string, message: string) => {
    await setClaimStatus(deps, claim, { phase: "Lost", event: { type: "Warning", reason, message } });
  };
  const { volumeName } = claim.spec ?? {};
  if (!volumeName) {
    await lose("ClaimLost", "Bound claim has lost reference to PersistentVolume. Data on the volume is lost!");
    return;
  }
  const volume = readVolume(deps, volumeName);
  if (volume === undefined) {
    await lose("ClaimLost", "Bound claim has lost its PersistentVolume. Data on the volume is lost!");
    return;
  }
  const { claimRef } = volume.spec ?? {};
  // A volume without a reference has lost it: it belongs to this claim.
  if (claimRef === undefined || claimRef.uid === claim.metadata.uid) await bindClaim(deps, claim, volume);
  else await lose("ClaimMisbound", "Two claims are bound to the same volume, this one is bound incorrectly");
}

/** Handles a claim whose author asks for one particular volume. */
async function syncRequested(deps: BinderDeps, claim: StoredClaim, volumeName: string): Promise<void> {
  const volume = readVolume(deps, volumeName);
  const problem = volume && whyNotRequested(volume, claim);
  if (problem !== undefined) deps.events.record({ about: claim, ...problem });
  if (volume === undefined || problem !== undefined) await setClaimStatus(deps, claim, { phase: "Pending" });
  else await bindClaim(deps, claim, volume);
}

function whyNotRequested(volume: StoredVolume, claim: StoredClaim): BinderEvent | undefined {
  const { name = "" } = volume.metadata;
  if (volume.spec?.claimRef !== undefined) {
    if (isReservedFor(volume, claim)) return undefined;
    const message = `volume "${name}" already bound to a different claim.`;
    return { type: "Warning", reason: "FailedBinding", message };
  }
  const problem = whyUnfit(volume, claim);
  if (problem === undefined) return undefined;
  return {
    type: "Warning",
    reason: "VolumeMismatch",
    message: `Cannot bind to requested volume "${name}": ${problem}`,
  };
}

/** Says why the volume does not fit, in upstream's words (`checkVolumeSatisfyClaim`). */
function whyUnfit(volume: StoredVolume, claim: StoredClaim): string | undefined {
  const { name = "", deletionTimestamp } = volume.metadata;
  if (deletionTimestamp !== undefined) return `the volume is marked for deletion "${name}"`;
  if (!isLargeEnough(volume, claim)) return "requested PV is too small";
  if (storageClassOf(volume) !== storageClassOf(claim)) return "storageClassName does not match";
  if ((volume.spec?.volumeAttributesClassName ?? "") !== (claim.spec?.volumeAttributesClassName ?? "")) {
    return "volumeAttributesClassName does not match";
  }
  if (!hasSameVolumeMode(volume, claim)) return "incompatible volumeMode";
  return offersAccessModes(volume, claim) ? undefined : "incompatible accessMode";
}

/** Handles a claim for which any fitting volume will do. For a class that waits for a pod the scheduler chooses. */
async function syncUnbound(deps: BinderDeps, claim: StoredClaim, key: string): Promise<void> {
  const { reader, events } = deps;
  const className = storageClassOf(claim);
  const isDelayed = className !== "" && isDelayedClass(readClass(deps, className));
  const volumes = reader.list(VOLUMES).map((object) => typed("PersistentVolume", object));
  const volume = findMatchingVolume(claim, volumes, { isDelayed });
  if (volume !== undefined) {
    await bindClaim(deps, claim, volume);
    return;
  }
  const defaultClass = hasStorageClass(claim) ? undefined : findDefaultClass(reader);
  if (defaultClass !== undefined) {
    // The feed brings the claim back here with its class.
    await writeClaim(deps, { ...claim, spec: { ...claim.spec, storageClassName: defaultClass } });
    return;
  }
  const isPlaced = claim.metadata.annotations?.[SELECTED_NODE] !== undefined;
  if (isDelayed && !isPlaced) events.record({ about: claim, ...whyDelayed(deps, key) });
  else if (className !== "") {
    await requestProvisioning(deps, claim, { className, storageClass: readClass(deps, className) });
    return;
  } else {
    const message = "no persistent volumes available for this claim and no storage class is set";
    events.record({ about: claim, type: "Normal", reason: "FailedBinding", message });
  }
  await setClaimStatus(deps, claim, { phase: "Pending" });
}

function readClass({ reader }: BinderDeps, name: string): StorageClass | undefined {
  const found = reader.get({ resource: STORAGE_CLASSES, namespace: "", name });
  return found && typed("StorageClass", found);
}

function whyDelayed({ reader, podsOf }: BinderDeps, key: string): BinderEvent {
  const names = podsOf(key).flatMap((podKey) => {
    const object = reader.get(podNameOf(podKey));
    const pod = object && typed("Pod", object);
    if (pod === undefined || isPodTerminated(pod) || (pod.spec?.nodeName ?? "") !== "") return [];
    return [pod.metadata.name ?? ""];
  });
  if (names.length === 0) {
    const message = "waiting for first consumer to be created before binding";
    return { type: "Normal", reason: "WaitForFirstConsumer", message };
  }
  const whom = names.length > 1 ? `pods ${names.join(",")}` : `pod ${names.join()}`;
  return { type: "Normal", reason: "WaitForPodScheduled", message: `waiting for ${whom} to be scheduled` };
}
