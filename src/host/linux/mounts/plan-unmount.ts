import type { MountEntry } from "../../mounts-port.ts";

/** What has to be unmounted for one mount to go. */
export interface UnmountPlan {
  /** The path of the mount itself. */
  readonly path: string;
  readonly type: string;
  /** The mounts below it, in the order in which they can be unmounted: innermost and latest first. */
  readonly below: readonly MountEntry[];
  /**
   * True when a mount outside shares what happens below this one, as a bind mount does with its source. Unless the two
   * are parted first, unmounting the mounts below this one would unmount them there as well.
   */
  readonly isShownElsewhere: boolean;
}

/** `entries` is the whole mount table, in its order. An unknown mount has nothing below it. */
export function planUnmount(entries: readonly MountEntry[], id: number): UnmountPlan {
  const children = new Map<number, MountEntry[]>();
  for (const entry of entries) {
    const siblings = children.get(entry.parentId);
    if (siblings) siblings.push(entry);
    else children.set(entry.parentId, [entry]);
  }
  const below: MountEntry[] = [];
  const seen = new Set([id]);
  const collect = (parentId: number) => {
    for (const child of (children.get(parentId) ?? []).toReversed()) {
      if (seen.has(child.id)) continue;
      seen.add(child.id);
      collect(child.id);
      below.push(child);
    }
  };
  collect(id);
  const top = entries.find((entry) => entry.id === id);
  const parents = new Set(below.map(({ parentId }) => parentId));
  const groups = new Set(
    entries.flatMap(({ id: own, peerGroup }) => (peerGroup !== undefined && parents.has(own) ? [peerGroup] : [])),
  );
  return {
    path: top?.path ?? "",
    type: top?.type ?? "",
    below,
    isShownElsewhere: entries.some((entry) => {
      return !seen.has(entry.id) && entry.peerGroup !== undefined && groups.has(entry.peerGroup);
    }),
  };
}
