import type { ObjectMeta, PersistentVolume, PersistentVolumeClaim, Pod, Volume } from "../../../../api/gen/types.ts";
import { podContainers, podReference } from "../../../../api/pods.ts";

/** Why a pod may not have what a claim stands for, in upstream's words; undefined: it may. */
export type Refusal = string | undefined;

/** Which claim a volume of a pod names; undefined for a volume of another kind. */
export interface ClaimName {
  readonly name: string;
  /** Made for this pod alone, out of the volume's template. */
  readonly isEphemeral: boolean;
  readonly readOnly: boolean;
}

/** A generic ephemeral volume is a claim named after the pod and the volume (component-helpers/storage/ephemeral). */
export function claimNameOf(pod: Pod, { name, persistentVolumeClaim, ephemeral }: Volume): ClaimName | undefined {
  if (persistentVolumeClaim) {
    const { claimName, readOnly = false } = persistentVolumeClaim;
    return { name: claimName, isEphemeral: false, readOnly };
  }
  return ephemeral && { name: `${podReference(pod).name}-${name}`, isEphemeral: true, readOnly: false };
}

/**
 * Whether the claim leads to a volume (`getPVCExtractPV` of pkg/kubelet/volumemanager/populator). One that is being deleted
 * does no longer: its volume may go at any moment.
 */
export function checkClaim({ metadata, spec, status }: PersistentVolumeClaim): Refusal {
  if (metadata?.deletionTimestamp !== undefined) return "PVC is being deleted";
  if (status?.phase !== "Bound") return "PVC is not bound";
  if ((spec?.volumeName ?? "") === "") return "PVC has empty pvc.Spec.VolumeName";
  return undefined;
}

/** Its controller is about to say that it is bound: it writes what it has decided first, and the status behind that. */
export function isBeingBound({ metadata, spec, status }: PersistentVolumeClaim): boolean {
  const isDecided = metadata?.annotations?.["pv.kubernetes.io/bind-completed"] === "yes";
  return isDecided && (spec?.volumeName ?? "") !== "" && (status?.phase ?? "Pending") === "Pending";
}

/** A claim of that name which somebody else made is not the pod's, whatever it is bound to. */
export function checkEphemeralClaim(pod: Pod, { metadata }: PersistentVolumeClaim): Refusal {
  const { namespace, name, uid } = podReference(pod);
  if (metadata?.namespace === namespace && isControlledBy(metadata, uid)) return undefined;
  return `PVC ${metadata?.namespace}/${metadata?.name} was not created for pod ${namespace}/${name} (pod is not owner)`;
}

function isControlledBy({ ownerReferences = [] }: ObjectMeta, uid: string): boolean {
  const controller = ownerReferences.find(({ controller: isController }) => isController === true);
  return uid !== "" && controller?.uid === uid;
}

/** Whether the volume agrees that it belongs to the claim: it is bound in two steps, and names are used again. */
export function checkBinding({ metadata, spec }: PersistentVolume, claim: PersistentVolumeClaim): Refusal {
  const found = `found PV object ${metadata?.name}`;
  if (spec?.claimRef === undefined) {
    return `${found} but it has a nil pv.Spec.ClaimRef indicating it is not yet bound to the claim`;
  }
  const [ours, theirs] = [claim.metadata?.uid, spec.claimRef.uid];
  if (ours === theirs) return undefined;
  return `${found} but its pv.Spec.ClaimRef.UID ${theirs ?? ""} does not point to claim.UID ${ours ?? ""}`;
}

/** Files are mounted and devices are mapped; no container may ask for the one and get the other. */
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
