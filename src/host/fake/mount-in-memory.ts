import { posix } from "node:path";
import { fileError } from "../file-error.ts";
import type { MountEntry } from "../mounts-port.ts";
import type { MemoryEntry } from "./memory-entry.ts";
import type { MemoryTree, Place } from "./memory-tree.ts";
import { entryOf, type MemoryMount, type MountFacts, type Position } from "./mount-layers.ts";

/** Mounts a new, empty file system unless one of that type is mounted there already. */
export function mountMemory(tree: MemoryTree, path: string, facts: Omit<MountFacts, "device">): void {
  const place = findMountTarget(tree, path, "directory");
  if (place.isMountPoint && place.mount.facts.type === facts.type) return;
  mountRoot(tree, place, { root: createRoot(tree, 0o1777), ...facts });
}

/** Mounts a file system, which is the same one wherever its root is mounted. */
export function mountRoot(
  tree: MemoryTree,
  over: Position,
  { root, ...facts }: Omit<MountFacts, "device"> & { root: MemoryEntry },
): void {
  tree.layers.mount(over, root, { ...facts, device: `0:${root.inode}` });
}

/** Makes a directory that is no part of the tree yet. */
export function createRoot(tree: MemoryTree, mode: number): MemoryEntry {
  return tree.create({ kind: "directory", children: new Map() }, mode);
}

/** Shows the source at the target with all that is mounted below it. */
export function bind(tree: MemoryTree, source: string, target: string, readOnly: boolean): void {
  const from = findPlace(tree, source, true);
  const to = findMountTarget(tree, target, kindOf(from.entry));
  bindPlace(tree, from, { over: to, readOnly });
}

/** Binds the place with all that is mounted below it. */
export function bindPlace(
  tree: MemoryTree,
  from: Position,
  { over, readOnly }: { over: Position; readOnly: boolean },
): void {
  const { layers } = tree;
  const optionsOf = ({ facts }: MemoryMount) => {
    return readOnly ? ["ro", ...facts.options.filter((option) => option !== "rw" && option !== "ro")] : facts.options;
  };
  const before = layers.all();
  const shown = tree.namesIn(from.mount, from.entry)?.join("/") ?? "";
  const made = layers.mount(over, from.entry, {
    ...from.mount.facts,
    options: optionsOf(from.mount),
    shown: posix.join(from.mount.facts.shown ?? "/", shown),
  });
  const copies = new Map([[from.mount, made]]);
  for (const mount of before) {
    const parent = mount.parent && copies.get(mount.parent);
    if (parent === undefined || tree.namesIn(parent, mount.covered) === undefined) continue;
    // `from` is already inside the mount over the source itself.
    if (mount.covered === from.entry && mount.parent === from.mount) continue;
    copies.set(mount, layers.mount({ mount: parent, entry: mount.covered }, mount.root, mount.facts));
  }
}

/** Unmounts all that is stacked over the path and all below it. */
export function unmountAll(tree: MemoryTree, path: string): void {
  for (;;) {
    const place = mountPointAt(tree, path);
    if (place === undefined) return;
    for (const mount of subtreeOf(tree, place.mount).reverse()) tree.layers.unmount(mount);
  }
}

/** The place itself, where something is mounted over it. */
export function mountPointAt(tree: MemoryTree, path: string): Place | undefined {
  if (tree.find(path, { operation: "umount", followLast: false }) === undefined) return undefined;
  const place = tree.walk(path, { operation: "umount", followLast: false });
  return place.isMountPoint && place.mount !== tree.layers.root ? place : undefined;
}

function subtreeOf(tree: MemoryTree, top: MemoryMount): MemoryMount[] {
  const found = new Set([top]);
  for (const mount of tree.layers.all()) if (mount.parent && found.has(mount.parent)) found.add(mount);
  return [...found];
}

/** The mount table. */
export function listMounts(tree: MemoryTree): MountEntry[] {
  return tree.layers.all().flatMap((mount) => {
    const path = tree.pathOf(mount);
    return path === undefined ? [] : [entryOf(mount, path)];
  });
}

/** Finds an existing directory or file that is no link, because mounts are made over such entries. */
export function findMountTarget(
  tree: MemoryTree,
  path: string,
  kind: "directory" | "file",
): Place & { entry: MemoryEntry } {
  const place = findPlace(tree, path, false);
  if (place.entry.content.kind === "link") throw fileError("ELOOP", "mount", path);
  if (kindOf(place.entry) !== kind) throw fileError("ENOTDIR", "mount", path);
  return place;
}

/** Finds the entry at the path; `ENOENT` where there is none. */
export function findPlace(tree: MemoryTree, path: string, followLast: boolean): Place & { entry: MemoryEntry } {
  const place = tree.walk(path, { operation: "mount", followLast });
  const { entry } = place;
  if (entry === undefined) throw fileError("ENOENT", "mount", path);
  return { ...place, entry };
}

/** The kernel lets an entry be mounted over another one of the same kind. */
export function kindOf(entry: MemoryEntry): "directory" | "file" {
  return entry.content.kind === "directory" ? "directory" : "file";
}
