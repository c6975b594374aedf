import type { Cluster, PendingPod } from "../cluster.ts";
import { areInConflict } from "../pod-disks.ts";
import type { NodeFilter, NodeRejection } from "./filter.ts";

const NO_DISK: NodeRejection = { reasons: ["node(s) had no available disk"], isFinal: false };
const USED_BY_ONE: NodeRejection = {
  reasons: ["node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod access mode"],
  isFinal: false,
};

/**
 * Checks disks that other pods of the node must not use at the same time, and claims that only one pod of the cluster
 * may use (`plugins/volumerestrictions`). Both are free when the pod that has them ends.
 */
export function filterVolumeRestrictions({ info }: PendingPod, cluster: Cluster): NodeFilter | undefined {
  const exclusive = info.claims.filter((name) => {
    return cluster.storage.claim(info.namespace, name)?.spec?.accessModes?.includes("ReadWriteOncePod") ?? false;
  });
  if (exclusive.length === 0 && info.disks.length === 0) return undefined;
  const isUsed = (name: string) =>
    cluster.nodes.some(({ pods }) => pods.some((pod) => pod.namespace === info.namespace && pod.claims.includes(name)));
  const used = exclusive.some(isUsed);
  return ({ pods }) => {
    const isTaken = pods.some(({ disks }) =>
      disks.some((other) => info.disks.some((own) => areInConflict(own, other))),
    );
    if (isTaken) return NO_DISK;
    return used ? USED_BY_ONE : undefined;
  };
}
