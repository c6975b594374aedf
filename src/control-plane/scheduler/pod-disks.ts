import type { Volume } from "../../api/gen/types.ts";

/** A disk that a pod names itself and that not all pods of a node may use at the same time. */
export interface PodDisk {
  readonly kind: "gcePersistentDisk" | "awsElasticBlockStore" | "iscsi" | "rbd";
  /** The name by which the storage knows it. */
  readonly id: string;
  /** Any number of pods may read it where all of them only read it. */
  readonly isReadOnly: boolean;
  /** The monitors of a Ceph cluster, of which another has other images. Empty for the other kinds. */
  readonly monitors: readonly string[];
}

/** Ceph's own default, which the API server writes too. */
const DEFAULT_POOL = "rbd";

/** The disks among the volumes. */
export function podDisksOf(volumes: readonly Volume[]): PodDisk[] {
  return volumes.flatMap(({ gcePersistentDisk, awsElasticBlockStore, iscsi, rbd }): PodDisk[] => {
    if (gcePersistentDisk !== undefined) {
      const { pdName: id, readOnly = false } = gcePersistentDisk;
      return [{ kind: "gcePersistentDisk", id, isReadOnly: readOnly, monitors: [] }];
    }
    // It can be attached once, however it is used.
    if (awsElasticBlockStore !== undefined) {
      return [{ kind: "awsElasticBlockStore", id: awsElasticBlockStore.volumeID, isReadOnly: false, monitors: [] }];
    }
    if (iscsi !== undefined) {
      return [{ kind: "iscsi", id: iscsi.iqn, isReadOnly: iscsi.readOnly ?? false, monitors: [] }];
    }
    if (rbd !== undefined) {
      const { pool = DEFAULT_POOL, image, monitors, readOnly = false } = rbd;
      return [{ kind: "rbd", id: `${pool}/${image}`, isReadOnly: readOnly, monitors }];
    }
    return [];
  });
}

/** True when two pods cannot use these at the same time (`plugins/volumerestrictions`, `isVolumeConflict`). */
export function areInConflict(one: PodDisk, other: PodDisk): boolean {
  if (one.kind !== other.kind || one.id !== other.id || (one.isReadOnly && other.isReadOnly)) return false;
  return one.kind !== "rbd" || one.monitors.some((monitor) => other.monitors.includes(monitor));
}
