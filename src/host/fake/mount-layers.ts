import type { MountEntry } from "../mounts-port.ts";
import type { MemoryEntry } from "./memory-entry.ts";

/** A mount in memory: shows `root` where `covered` would be seen on the mount `parent`. */
export interface MemoryMount {
  readonly id: number;
  /** Undefined for the root of everything. */
  readonly parent: MemoryMount | undefined;
  readonly covered: MemoryEntry;
  readonly root: MemoryEntry;
  readonly facts: MountFacts;
}

/** The facts that the mount table has about a mount. */
export interface MountFacts {
  readonly type: string;
  readonly source: string;
  /** All mounts of one file system have the same device. */
  readonly device: string;
  readonly options: readonly string[];
  /** The part of the file system that a bind mount shows; default `/`. */
  readonly shown?: string;
}

/**
 * The mounts of a memory tree and what they cover. As in the kernel, a mount hides one entry of one mount, not of all.
 */
export interface MountLayers {
  readonly root: MemoryMount;
  /** Where a walk that reached `entry` on `mount` really is: at the root of the last mount over it. */
  top(at: Position): Position;
  mount(over: Position, root: MemoryEntry, facts: MountFacts): MemoryMount;
  unmount(mount: MemoryMount): void;
  /** All mounts, in the order in which they were mounted. */
  all(): readonly MemoryMount[];
}

/** An entry as it is seen through one mount of several that may show it. */
export interface Position {
  readonly mount: MemoryMount;
  readonly entry: MemoryEntry;
}

export function createMountLayers(rootEntry: MemoryEntry): MountLayers {
  let ids = 1;
  const facts = { type: "ext4", source: "/dev/fake", device: "8:1", options: ["rw", "relatime"] };
  const root: MemoryMount = { id: ids, parent: undefined, covered: rootEntry, root: rootEntry, facts };
  const mounts = new Set([root]);
  const covers = new Map<MemoryMount, Map<MemoryEntry, MemoryMount>>();

  return {
    root,
    top(at) {
      let position = at;
      for (;;) {
        const over = covers.get(position.mount)?.get(position.entry);
        if (over === undefined) return position;
        position = { mount: over, entry: over.root };
      }
    },
    mount(over, mounted, mountFacts) {
      const { mount: parent, entry: covered } = this.top(over);
      const mount = { id: ++ids, parent, covered, root: mounted, facts: mountFacts };
      mounts.add(mount);
      const byEntry = covers.get(parent) ?? new Map<MemoryEntry, MemoryMount>();
      covers.set(parent, byEntry.set(covered, mount));
      return mount;
    },
    unmount(mount) {
      mounts.delete(mount);
      if (mount.parent) covers.get(mount.parent)?.delete(mount.covered);
    },
    all: () => [...mounts],
  };
}

/** A line of the mount table. */
export function entryOf(mount: MemoryMount, path: string): MountEntry {
  const { type, source, device, options, shown = "/" } = mount.facts;
  return {
    id: mount.id,
    parentId: mount.parent?.id ?? 0,
    device,
    root: shown,
    path,
    type,
    source,
    options,
    propagation: "private",
  };
}
