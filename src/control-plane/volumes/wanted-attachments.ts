import { asDriverVolume, inlineDriverVolumes } from "../../api/cloud-volumes.ts";
import { type CsiVolumeReference, csiVolumeReference } from "../../api/csi-volumes.ts";
import type { PersistentVolume, PersistentVolumeSpec } from "../../api/gen/types.ts";
import { type KubeObject, typed } from "../../api/object.ts";
import { isPodTerminated, podClaimsOf, whyForeign } from "../claims/pod-claims.ts";
import { namespacedKeyOf } from "../control-loop/namespaced-key.ts";
import type { ResourceReader } from "../ports/resources.ts";
import { inlineVolumeName, STORED_CSI_DRIVERS } from "./attachment.ts";
import { readClaim, readVolume } from "./binder-deps.ts";

/** A volume that has to be attached to a node for these pods. */
export interface WantedAttachment extends CsiVolumeReference {
  /** For one that pods name themselves, what `inlineVolumeName` gives. */
  readonly volumeName: string;
  /** Set for a volume that pods name themselves. */
  readonly inlineSpec?: PersistentVolumeSpec;
  /** True when only one node may have it at a time. */
  readonly isExclusive: boolean;
  readonly pods: readonly KubeObject[];
}

/**
 * Finds the volumes that have to be attached for the pods, in order of their names
 * (`desired_state_of_world_populator.go`).
 */
export function findWanted(reader: ResourceReader, pods: readonly KubeObject[]): readonly WantedAttachment[] {
  const wanted = new Map<string, WantedAttachment>();
  for (const object of pods) {
    for (const { volume, isInline } of volumesOf(reader, object)) {
      const csi = csiVolumeReference(volume);
      if (csi === undefined || !isAttachRequired(reader, csi.driver)) continue;
      const name = isInline ? inlineVolumeName(csi) : (volume.metadata?.name ?? "");
      const others = wanted.get(name)?.pods ?? [];
      wanted.set(name, {
        ...csi,
        volumeName: name,
        isExclusive: isExclusive(volume),
        ...(isInline && volume.spec && { inlineSpec: volume.spec }),
        pods: others.includes(object) ? others : [...others, object],
      });
    }
  }
  return [...wanted.values()].sort((a, b) => (a.volumeName < b.volumeName ? -1 : 1));
}

interface UsedVolume {
  readonly volume: PersistentVolume;
  /** The pod names it itself. */
  readonly isInline: boolean;
}

/** The volumes of the pod's bound claims whose volume refers to the claim in turn, and those that it names itself. */
function volumesOf(reader: ResourceReader, object: KubeObject): readonly UsedVolume[] {
  const pod = typed("Pod", object);
  if (isPodTerminated(pod)) return [];
  const inline = inlineDriverVolumes(pod).map((volume) => ({ volume, isInline: true }));
  const claimed = claimedVolumesOf(reader, object).map((volume) => ({ volume, isInline: false }));
  return [...inline, ...claimed];
}

/** The volumes of the pod's bound claims that refer to the claim in turn. */
export function claimedVolumesOf(reader: ResourceReader, object: KubeObject): readonly PersistentVolume[] {
  const pod = typed("Pod", object);
  const { namespace = "" } = object.metadata;
  return podClaimsOf(pod).flatMap(({ claim: name, isEphemeral }) => {
    const claim = readClaim({ reader }, namespacedKeyOf({ namespace, name }));
    if (claim?.status?.phase !== "Bound" || (isEphemeral && whyForeign(pod, claim) !== undefined)) return [];
    const volume = readVolume({ reader }, claim.spec?.volumeName ?? "");
    return volume === undefined || volume.spec?.claimRef?.uid !== claim.metadata.uid ? [] : [volume];
  });
}

/** True when the driver needs attachments. A driver without an object, or one that does not say, does. */
function isAttachRequired(reader: ResourceReader, driver: string): boolean {
  const found = reader.get({ resource: STORED_CSI_DRIVERS, namespace: "", name: driver });
  return found === undefined || typed("CSIDriver", found).spec.attachRequired !== false;
}

/**
 * True when no access mode of the volume is for several nodes. A volume without access modes counts as shared; its
 * driver decides (`isMultiAttachForbidden`).
 */
export function isExclusive(volume: PersistentVolume): boolean {
  const { accessModes = [] } = asDriverVolume(volume).spec ?? {};
  return accessModes.length > 0 && !accessModes.some((mode) => mode === "ReadWriteMany" || mode === "ReadOnlyMany");
}
