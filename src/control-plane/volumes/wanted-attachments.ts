import { type CsiVolumeReference, csiVolumeReference } from "../../api/csi-volumes.ts";
import { type KubeObject, typed } from "../../api/object.ts";
import { isPodTerminated, podClaimsOf, whyForeign } from "../claims/pod-claims.ts";
import { namespacedKeyOf } from "../control-loop/namespaced-key.ts";
import type { ResourceReader } from "../ports/resources.ts";
import { CSI_DRIVERS } from "./attachment.ts";
import { readClaim, readVolume, type StoredVolume } from "./binder-deps.ts";

/** A volume that is to be attached to a node, for these pods. */
export interface WantedAttachment extends CsiVolumeReference {
  readonly volumeName: string;
  /** Only one node may have it at a time. */
  readonly isExclusive: boolean;
  readonly pods: readonly KubeObject[];
}

/** What the pods want attached where they are, in order of their volumes' names (`desired_state_of_world_populator.go`). */
export function findWanted(reader: ResourceReader, pods: readonly KubeObject[]): readonly WantedAttachment[] {
  const wanted = new Map<string, WantedAttachment>();
  for (const object of pods) {
    for (const volume of volumesOf(reader, object)) {
      const csi = csiVolumeReference(volume);
      if (csi === undefined || !isAttachRequired(reader, csi.driver)) continue;
      const { name = "" } = volume.metadata;
      const others = wanted.get(name)?.pods ?? [];
      wanted.set(name, {
        ...csi,
        volumeName: name,
        isExclusive: isExclusive(volume),
        pods: others.includes(object) ? others : [...others, object],
      });
    }
  }
  return [...wanted.values()].sort((a, b) => (a.volumeName < b.volumeName ? -1 : 1));
}

/** Of claims that are bound, each to a volume that says the same. */
function volumesOf(reader: ResourceReader, object: KubeObject): readonly StoredVolume[] {
  const pod = typed("Pod", object);
  if (isPodTerminated(pod)) return [];
  const { namespace = "" } = object.metadata;
  return podClaimsOf(pod).flatMap(({ claim: name, isEphemeral }) => {
    const claim = readClaim({ reader }, namespacedKeyOf({ namespace, name }));
    if (claim?.status?.phase !== "Bound" || (isEphemeral && whyForeign(pod, claim) !== undefined)) return [];
    const volume = readVolume({ reader }, claim.spec?.volumeName ?? "");
    return volume === undefined || volume.spec?.claimRef?.uid !== claim.metadata.uid ? [] : [volume];
  });
}

/** A driver that says nothing of it, and one that has no object, want to be asked. */
function isAttachRequired(reader: ResourceReader, driver: string): boolean {
  const found = reader.get({ resource: CSI_DRIVERS, namespace: "", name: driver });
  return found === undefined || typed("CSIDriver", found).spec.attachRequired !== false;
}

/** Of a volume without access modes nobody knows; its driver will say (`isMultiAttachForbidden`). */
function isExclusive({ spec }: StoredVolume): boolean {
  const { accessModes = [] } = spec ?? {};
  return accessModes.length > 0 && !accessModes.some((mode) => mode === "ReadWriteMany" || mode === "ReadOnlyMany");
}
