import type { FCVolumeSource, PersistentVolumeSpec, Volume } from "./gen/types.ts";

/** The plugins of disks that every node reaches by itself: the controller that attaches them only keeps the account. */
export const ISCSI_PLUGIN = "kubernetes.io/iscsi";
export const FC_PLUGIN = "kubernetes.io/fc";

/** What is a disk of an iSCSI target or of Fibre Channel, in a pod or a persistent volume. */
type DiskSources = Pick<Volume, "fc"> & {
  readonly iscsi?: { readonly targetPortal: string; readonly iqn: string; readonly lun: number };
};

/**
 * The disk's name in a node's `status.volumesInUse` and `status.volumesAttached`; undefined for a volume of another kind,
 * or one that names no disk. All that is told of one disk by different volumes is told under one name, as upstream
 * (`GetVolumeName` of pkg/volume/iscsi and pkg/volume/fc).
 */
export function diskVolumeName({ iscsi, fc }: DiskSources | PersistentVolumeSpec): string | undefined {
  if (iscsi !== undefined) return `${ISCSI_PLUGIN}/${iscsi.targetPortal}:${iscsi.iqn}:${iscsi.lun}`;
  const disk = fc && fcDiskName(fc);
  return disk === undefined ? undefined : `${FC_PLUGIN}/${disk}`;
}

/** Go's form of the lists. */
function fcDiskName({ targetWWNs = [], lun, wwids = [] }: FCVolumeSource): string | undefined {
  if (targetWWNs.length > 0 && lun !== undefined) return `[${targetWWNs.join(" ")}]:${lun}`;
  return wwids.length > 0 ? `[${wwids.join(" ")}]` : undefined;
}
