import type { MountEntry } from "../../mounts-port.ts";

/** What has to go for one mount to go. */
export interface UnmountPlan {
  /** Of the mount itself. */
  readonly path: string;
  readonly type: string;
  /** What is mounted below it, in the order in which it can be unmounted: innermost and latest first. */
  readonly below: readonly MountEntry[];
  /**
   * A mount outside shares what happens below this one, as a bind mount does with its source: unless it is parted from it
   * first, unmounting what is below it here would unmount it there.
   */
  readonly isShownElsewhere: boolean;
}

/** `entries`: the whole mount table, in its order. An unknown mount has nothing below it. */
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
