import { type CsiVolumeReference, csiVolumeReference } from "../../api/csi-volumes.ts";
import type { VolumeAttachment } from "../../api/gen/types.ts";
import { type KubeObject, type ObjectOf, typed } from "../../api/object.ts";

export const ATTACHMENTS = "volumeattachments.storage.k8s.io";
export const STORED_CSI_DRIVERS = "csidrivers.storage.k8s.io";

export type StoredAttachment = ObjectOf<"VolumeAttachment">;

/** The driver has brought the volume to the node, and nobody wants it away. */
export function isAttached({ metadata, status }: StoredAttachment): boolean {
  return status?.attached === true && metadata.deletionTimestamp === undefined;
}

/** Where it is, for an index. */
export function attachmentNodeOf(object: KubeObject): readonly string[] {
  return [typed("VolumeAttachment", object).spec.nodeName];
}

/** The persistent volume that it is of, or what stands for the name of one that is part of the attachment itself. */
export function attachedVolumeOf({ spec }: VolumeAttachment): string {
  const { persistentVolumeName, inlineVolumeSpec } = spec.source;
  const inline = inlineVolumeSpec && csiVolumeReference({ spec: inlineVolumeSpec });
  return persistentVolumeName ?? (inline === undefined ? "" : inlineVolumeName(inline));
}

/** Stands for the name of a volume that pods name themselves. */
export function inlineVolumeName({ driver, volumeHandle }: CsiVolumeReference): string {
  return `${driver}-${volumeHandle}`;
}
