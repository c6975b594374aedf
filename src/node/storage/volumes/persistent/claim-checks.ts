import type { ObjectMeta, PersistentVolume, PersistentVolumeClaim, Pod, Volume } from "../../../../api/gen/types.ts";
import { podContainers, podReference } from "../../../../api/pods.ts";

/** Why a pod may not use a claim, in upstream's words; undefined: it may. */
export type Refusal = string | undefined;

/** The claim that a volume of a pod names. */
export interface ClaimName {
  readonly name: string;
  /** The claim was made for this pod alone, from the volume's template. */
  readonly isEphemeral: boolean;
  readonly readOnly: boolean;
}

/**
 * The claim of this volume; undefined for a volume of another kind. The claim of a generic ephemeral volume is named after
 * the pod and the volume (component-helpers/storage/ephemeral).
 */
export function claimNameOf(pod: Pod, { name, persistentVolumeClaim, ephemeral }: Volume): ClaimName | undefined {
  if (persistentVolumeClaim) {
    const { claimName, readOnly = false } = persistentVolumeClaim;
    return { name: claimName, isEphemeral: false, readOnly };
  }
  return ephemeral && { name: `${podReference(pod).name}-${name}`, isEphemeral: true, readOnly: false };
}

/**
 * Whether the claim is bound to a volume (`getPVCExtractPV` of pkg/kubelet/volumemanager/populator). The volume of a
 * claim that is being deleted may disappear at any moment, so that such a claim is refused.
 */
export function checkClaim({ metadata, spec, status }: PersistentVolumeClaim): Refusal {
  if (metadata?.deletionTimestamp !== undefined) return "PVC is being deleted";
  if (status?.phase !== "Bound") return "PVC is not bound";
  if ((spec?.volumeName ?? "") === "") return "PVC has empty pvc.Spec.VolumeName";
  return undefined;
}

/** The controller has bound the claim and is about to write it into the status, which it does in a second step. */
export function isBeingBound({ metadata, spec, status }: PersistentVolumeClaim): boolean {
  const isDecided = metadata?.annotations?.["pv.kubernetes.io/bind-completed"] === "yes";
  return isDecided && (spec?.volumeName ?? "") !== "" && (status?.phase ?? "Pending") === "Pending";
}

/** A claim that was not made for the pod is refused even if it has the right name. */
export function checkEphemeralClaim(pod: Pod, { metadata }: PersistentVolumeClaim): Refusal {
  const { namespace, name, uid } = podReference(pod);
  if (metadata?.namespace === namespace && isControlledBy(metadata, uid)) return undefined;
  return `PVC ${metadata?.namespace}/${metadata?.name} was not created for pod ${namespace}/${name} (pod is not owner)`;
}

function isControlledBy({ ownerReferences = [] }: ObjectMeta, uid: string): boolean {
  const controller = ownerReferences.find(({ controller: isController }) => isController === true);
  return uid !== "" && controller?.uid === uid;
}

/** Whether the volume refers back to the claim. Binding takes two steps, and a name may be used again by another claim. */
export function checkBinding({ metadata, spec }: PersistentVolume, claim: PersistentVolumeClaim): Refusal {
  const found = `found PV object ${metadata?.name}`;
  if (spec?.claimRef === undefined) {
    return `${found} but it has a nil pv.Spec.ClaimRef indicating it is not yet bound to the claim`;
  }
  const [ours, theirs] = [claim.metadata?.uid, spec.claimRef.uid];
  if (ours === theirs) return undefined;
  return `${found} but its pv.Spec.ClaimRef.UID ${theirs ?? ""} does not point to claim.UID ${ours ?? ""}`;
}

/** A container must list a file system under `volumeMounts` and a block device under `volumeDevices`. */
export function checkVolumeMode(pod: Pod, volumeName: string, volumeMode = "Filesystem"): Refusal {
  const lists = { volumeMounts: "Filesystem", volumeDevices: "Block" } as const;
  for (const list of ["volumeMounts", "volumeDevices"] as const) {
    const isNamed = podContainers(pod).some(({ container }) =>
      container[list]?.some(({ name }) => name === volumeName),
    );
    if (isNamed && volumeMode !== lists[list]) {
      return `volume ${volumeName} has volumeMode ${volumeMode}, but is specified in ${list}`;
    }
  }
  return undefined;
}
