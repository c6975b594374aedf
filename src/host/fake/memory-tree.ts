import { posix } from "node:path";
import { assert } from "../../base/assert.ts";
import { fileError } from "../file-error.ts";
import type { FileType } from "../file-type.ts";
import type { FileStatus } from "../port.ts";
import { childrenOf, type EntryContent, type MemoryEntry } from "./memory-entry.ts";
import { createMountLayers, type MemoryMount, type MountLayers } from "./mount-layers.ts";

/** A file tree in memory: names, links and their targets, with the errors that Linux gives. It is not asynchronous. */
export interface MemoryTree {
  /** The place that the path leads to. Throws `ENOENT`, `ENOTDIR` or `ELOOP` when its directory cannot be reached. */
  walk(path: string, options: WalkOptions): Place;
  /** Returns the entry that `walk` finds. Undefined where there is none, also where the directory is missing. */
  find(path: string, options: WalkOptions): MemoryEntry | undefined;
  /** Makes an entry, which is not yet in any directory. */
  create(content: EntryContent, mode: number): MemoryEntry;
  /** Puts the entry in its directory, and replaces an earlier one of that name. */
  attach(place: Place, entry: MemoryEntry): void;
  detach(place: Place): void;
  /** Notes that the entry's content or mode changed now. */
  touch(entry: MemoryEntry): void;
  makeDirectories(path: string): MemoryEntry;
  /**
   * The listener hears of each directory in which a name or a file changes, and of a name that left it. The function that
   * is returned ends that.
   */
  subscribe(listener: TreeListener): () => void;
  readonly layers: MountLayers;
  /** The names from the root of the mount down to the entry; undefined when the entry is not beneath it any more. */
  namesIn(mount: MemoryMount, entry: MemoryEntry): string[] | undefined;
  /** The path at which the mount is seen; undefined when the directory that it was mounted over is gone. */
  pathOf(mount: MemoryMount): string | undefined;
}

type TreeListener = (directory: MemoryEntry, removedName?: string) => void;

interface WalkOptions {
  operation: string;
  /** Whether a link in the last place is followed; links before it always are. */
  followLast: boolean;
}

export interface Place {
  /** The directory that holds the entry; the root holds itself. */
  parent: MemoryEntry;
  name: string;
  /** The entry that is seen there: where something is mounted, the root of that mount. */
  entry: MemoryEntry | undefined;
  /** The mount that the entry is on, or would be. */
  mount: MemoryMount;
  /** True when something is mounted over the place itself. */
  isMountPoint: boolean;
  /** For messages only. */
  path: string;
}

/** Linux gives up after this many links, too. */
const MAX_LINKS = 40;

export function createMemoryTree(now: () => number): MemoryTree {
  let inodes = 0;
  const listeners = new Set<TreeListener>();
  const onChange: TreeListener = (directory, removedName) => {
    for (const listener of listeners) listener(directory, removedName);
  };
  const parents = new Map<MemoryEntry, { directory: MemoryEntry; name: string }>();

  const create = (content: EntryContent, mode: number): MemoryEntry => {
    return { inode: ++inodes, content, mode, user: 0, group: 0, modifiedAt: now(), revision: 0 };
  };
  const root = create({ kind: "directory", children: new Map() }, 0o755);

  const layers = createMountLayers(root);

  const walk = (path: string, options: WalkOptions) => walkFrom(layers, path, options);

  const touch = (entry: MemoryEntry) => {
    entry.revision++;
    entry.modifiedAt = now();
    const parent = parents.get(entry);
    if (parent !== undefined) onChange(parent.directory);
  };

  const attach = (place: Place, entry: MemoryEntry) => {
    refuseMountPoint(place);
    const { parent, name, entry: replaced } = place;
    if (replaced !== undefined) parents.delete(replaced);
    childrenOf(parent)?.set(name, entry);
    parents.set(entry, { directory: parent, name });
    // A rename also moves the time of change, so that a file never looks like the one that it replaces.
    entry.revision++;
    parent.revision++;
    parent.modifiedAt = now();
    onChange(parent);
  };

  /** The names from the root of the mount down to the entry; undefined when the entry is not beneath it any more. */
  const namesIn = (mount: MemoryMount, entry: MemoryEntry): string[] | undefined => {
    const names: string[] = [];
    for (let current = entry; current !== mount.root; ) {
      const place = parents.get(current);
      if (place === undefined) return undefined;
      names.unshift(place.name);
      current = place.directory;
    }
    return names;
  };

  const pathOf = (mount: MemoryMount): string | undefined => {
    if (mount.parent === undefined) return "/";
    const above = pathOf(mount.parent);
    const names = namesIn(mount.parent, mount.covered);
    return above === undefined || names === undefined ? undefined : posix.join(above, ...names);
  };

  return {
    walk,
    layers,
    namesIn,
    pathOf,
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    find(path, options) {
      try {
        return walk(path, options).entry;
      } catch {
        return undefined;
      }
    },
    create,
    attach,
    touch,
    detach(place) {
      const { parent, name, entry } = place;
      if (entry === undefined) return;
      refuseMountPoint(place);
      childrenOf(parent)?.delete(name);
      parents.delete(entry);
      parent.revision++;
      parent.modifiedAt = now();
      onChange(parent, name);
      if (entry.content.kind === "directory") onChange(entry);
    },
    makeDirectories(path) {
      for (const ancestor of [...ancestorsOf(path), path]) {
        const place = walk(ancestor, { operation: "mkdir", followLast: true });
        if (place.entry === undefined) {
          // The kernel hands the set-group-ID bit on to directories.
          const mode = 0o755 | (place.parent.mode & 0o2000);
          attach(place, create({ kind: "directory", children: new Map() }, mode));
        } else if (place.entry.content.kind !== "directory") {
          throw fileError(ancestor === path ? "EEXIST" : "ENOTDIR", "mkdir", path);
        }
      }
      const { entry } = walk(path, { operation: "mkdir", followLast: true });
      assert(entry !== undefined, "a directory that was just made is there");
      return entry;
    },
  };
}

/** A link sends the walk back to the root with the target of the link. */
function walkFrom(layers: MountLayers, path: string, options: WalkOptions, links = 0): Place {
  assert(posix.isAbsolute(path), "paths are absolute");
  if (links > MAX_LINKS) throw fileError("ELOOP", options.operation, path);
  const names = posix.normalize(path).split("/").filter(Boolean);
  const root = layers.top({ mount: layers.root, entry: layers.root.root });
  let at = root;
  for (const [index, name] of names.entries()) {
    const child = childrenOf(at.entry)?.get(name);
    const isLast = index === names.length - 1;
    if (child?.content.kind === "link" && (!isLast || options.followLast)) {
      const directory = `/${names.slice(0, index).join("/")}`;
      const target = posix.resolve(directory, child.content.target);
      return walkFrom(layers, posix.join(target, ...names.slice(index + 1)), options, links + 1);
    }
    const seen = child && layers.top({ mount: at.mount, entry: child });
    if (isLast) {
      const { mount, entry } = seen ?? { mount: at.mount, entry: undefined };
      return { parent: at.entry, name, entry, mount, isMountPoint: mount !== at.mount, path };
    }
    if (seen === undefined) throw fileError("ENOENT", options.operation, path);
    if (seen.entry.content.kind !== "directory") throw fileError("ENOTDIR", options.operation, path);
    at = seen;
  }
  return { parent: root.entry, name: "", ...root, isMountPoint: true, path };
}

/** No entry takes the place of a mount, and a read-only mount stays as it is. */
function refuseMountPoint(place: Place): void {
  if (place.isMountPoint) throw fileError("EBUSY", "rename", place.path);
  refuseReadOnly(place);
}

/** Throws `EROFS` for an entry that is seen through a read-only mount. */
export function refuseReadOnly({ mount, path }: Pick<Place, "mount" | "path">): void {
  if (mount.facts.options.includes("ro")) throw fileError("EROFS", "open", path);
}

/** The type by the port's names. */
export function typeOf(entry: MemoryEntry): FileType {
  return entry.content.kind === "special" ? entry.content.type : entry.content.kind;
}

/** The status in the port's form. */
export function statusOf(entry: MemoryEntry, device: string): FileStatus {
  return {
    type: typeOf(entry),
    sizeBytes: entry.content.kind === "file" ? entry.content.data.length : 0,
    modifiedAt: entry.modifiedAt,
    mode: entry.mode,
    user: entry.user,
    group: entry.group,
    device,
    version: `${entry.inode}:${entry.revision}`,
  };
}

/** The ancestors from the top down, without the path itself and without the root. */
function ancestorsOf(path: string): string[] {
  const names = posix.normalize(path).split("/").filter(Boolean);
  return names.slice(0, -1).map((_, index) => `/${names.slice(0, index + 1).join("/")}`);
}
