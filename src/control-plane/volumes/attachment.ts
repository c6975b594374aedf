import { createHash } from "node:crypto";
import type { PersistentVolume, VolumeAttachment } from "../../api/gen/types.ts";
import { type KubeObject, type ObjectOf, typed } from "../../api/object.ts";

export const ATTACHMENTS = "volumeattachments.storage.k8s.io";
export const CSI_DRIVERS = "csidrivers.storage.k8s.io";

export type StoredAttachment = ObjectOf<"VolumeAttachment">;

/** A CSI volume as nodes and attachments name it. */
export interface CsiVolume {
  readonly driver: string;
  readonly volumeHandle: string;
}

const UNIQUE_PREFIX = "kubernetes.io/csi/";

/** How `status.volumesInUse` and `status.volumesAttached` of a node name the volume (`pkg/volume/util/util.go`). */
export function uniqueVolumeName({ driver, volumeHandle }: CsiVolume): string {
  return `${UNIQUE_PREFIX}${driver}^${volumeHandle}`;
}

/** The way back from `uniqueVolumeName`; undefined for a volume of another kind. */
export function parseUniqueName(name: string): CsiVolume | undefined {
  const separator = name.indexOf("^");
  if (!name.startsWith(UNIQUE_PREFIX) || separator < 0) return undefined;
  return { driver: name.slice(UNIQUE_PREFIX.length, separator), volumeHandle: name.slice(separator + 1) };
}

/** The name of the volume's VolumeAttachment for the node (`pkg/volume/csi/csi_attacher.go`, `getAttachmentName`). */
export function attachmentName({ driver, volumeHandle }: CsiVolume, nodeName: string): string {
  return `csi-${createHash("sha256").update(`${volumeHandle}${driver}${nodeName}`).digest("hex")}`;
}

/** A name of ours, whatever it was made of. */
export function isAttachmentName(name: string): boolean {
  return /^csi-[0-9a-f]{64}$/.test(name);
}

/** Undefined for a volume that CSI knows nothing of. */
export function csiVolumeOf({ spec }: PersistentVolume): CsiVolume | undefined {
  const { driver, volumeHandle } = spec?.csi ?? {};
  return driver === undefined || volumeHandle === undefined ? undefined : { driver, volumeHandle };
}

/** The driver has brought the volume to the node, and nobody wants it away. */
export function isAttached({ metadata, status }: StoredAttachment): boolean {
  return status?.attached === true && metadata.deletionTimestamp === undefined;
}

/** Where it is, for an index. */
export function attachmentNodeOf(object: KubeObject): readonly string[] {
  return [typed("VolumeAttachment", object).spec.nodeName];
}

/** The persistent volume that it is of; "" for one that is part of the attachment itself. */
export function attachedVolumeOf({ spec }: VolumeAttachment): string {
  return spec.source.persistentVolumeName ?? "";
}
