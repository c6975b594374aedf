import { createHash } from "node:crypto";
import { asDriverVolume } from "./cloud-volumes.ts";
import type { PersistentVolume } from "./gen/types.ts";

/** The name of the volume plugin of CSI drivers, in names of volumes and of directories. */
export const CSI_PLUGIN = "kubernetes.io/csi";

/** A CSI volume as nodes and attachments name it. */
export interface CsiVolumeReference {
  readonly driver: string;
  readonly volumeHandle: string;
}

/** Undefined for a volume that no CSI driver brings; volumes of clouds are those of the drivers that serve them. */
export function csiVolumeReference(volume: PersistentVolume): CsiVolumeReference | undefined {
  const { driver, volumeHandle } = asDriverVolume(volume).spec?.csi ?? {};
  return driver === undefined || volumeHandle === undefined ? undefined : { driver, volumeHandle };
}

/** The volume's name in a node's `status.volumesInUse` and `status.volumesAttached` (`pkg/volume/util/util.go`). */
export function uniqueVolumeName({ driver, volumeHandle }: CsiVolumeReference): string {
  return `${CSI_PLUGIN}/${driver}^${volumeHandle}`;
}

/** The inverse of `uniqueVolumeName`; undefined for a volume of another plugin. */
export function parseUniqueVolumeName(name: string): CsiVolumeReference | undefined {
  const prefix = `${CSI_PLUGIN}/`;
  const separator = name.indexOf("^");
  if (!name.startsWith(prefix) || separator < 0) return undefined;
  return { driver: name.slice(prefix.length, separator), volumeHandle: name.slice(separator + 1) };
}

/** The name of the volume's VolumeAttachment for the node (`pkg/volume/csi/csi_attacher.go`, `getAttachmentName`). */
export function attachmentName({ driver, volumeHandle }: CsiVolumeReference, nodeName: string): string {
  return `csi-${createHash("sha256").update(`${volumeHandle}${driver}${nodeName}`).digest("hex")}`;
}

/** True for each name that `attachmentName` gives, and for any other of its form. */
export function isAttachmentName(name: string): boolean {
  return /^csi-[0-9a-f]{64}$/.test(name);
}
