import { diskVolumeName } from "../../api/disk-volumes.ts";
import { type KubeObject, typed } from "../../api/object.ts";
import { isPodTerminated } from "../claims/pod-claims.ts";
import type { ResourceReader } from "../ports/resources.ts";
import { claimedVolumesOf, isExclusive } from "./wanted-attachments.ts";

/** A disk of iSCSI or Fibre Channel that pods use on a node. The node reaches it by itself; only the account is kept. */
export interface WantedDisk {
  /** Its name in the node's status. */
  readonly name: string;
  /** The name that events have: that of the persistent volume, or of the volume in the pod. */
  readonly volumeName: string;
  /** True when only one node may have it at a time. What pods name themselves may be shared, as upstream. */
  readonly isExclusive: boolean;
  readonly pods: readonly KubeObject[];
}

/** Finds the disks that the pods use, in order of their names. */
export function findWantedDisks(reader: ResourceReader, pods: readonly KubeObject[]): readonly WantedDisk[] {
  const wanted = new Map<string, WantedDisk>();
  for (const object of pods) {
    for (const disk of disksOf(reader, object)) {
      const known = wanted.get(disk.name);
      const others = known?.pods ?? [];
      wanted.set(disk.name, {
        ...disk,
        isExclusive: disk.isExclusive && known?.isExclusive !== false,
        pods: others.includes(object) ? others : [...others, object],
      });
    }
  }
  return [...wanted.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Whether the pod names such a disk itself. */
export function hasInlineDisk(object: KubeObject): boolean {
  return (typed("Pod", object).spec?.volumes ?? []).some((volume) => diskVolumeName(volume) !== undefined);
}

function disksOf(reader: ResourceReader, object: KubeObject): readonly Omit<WantedDisk, "pods">[] {
  const pod = typed("Pod", object);
  if (isPodTerminated(pod)) return [];
  const inline = (pod.spec?.volumes ?? []).map((volume) => ({
    name: diskVolumeName(volume),
    volumeName: volume.name,
    isExclusive: false,
  }));
  const claimed = claimedVolumesOf(reader, object).map((volume) => ({
    name: diskVolumeName(volume.spec ?? {}),
    volumeName: volume.metadata?.name ?? "",
    isExclusive: isExclusive(volume),
  }));
  return [...inline, ...claimed].flatMap(({ name, ...disk }) => (name === undefined ? [] : [{ name, ...disk }]));
}
