import { throwIfAborted } from "../../base/abort.ts";
import { codeOf } from "../../base/errors.ts";
import { fileError } from "../file-error.ts";
import type { FileType } from "../file-type.ts";
import type { DirectoryEntry, Files, NewTree, OpenedDirectory, Removals } from "../port.ts";
import { findBeneath } from "./bind-beneath-in-memory.ts";
import { changeGroup } from "./change-group-in-memory.ts";
import { readDiskUsage } from "./disk-usage-in-memory.ts";
import { childrenOf, type MemoryEntry } from "./memory-entry.ts";
import { type MemoryTree, refuseReadOnly, statusOf, typeOf } from "./memory-tree.ts";
import { openDirectory } from "./open-directory-in-memory.ts";
import { openBeneath, renameFile } from "./open-files-in-memory.ts";
import { createWatchers } from "./watchers.ts";

/**
 * Files in memory that obey the port. The synchronous methods are the rest of the machine: an operator who edits a
 * manifest, a runtime that writes a log. They pass no hook.
 */
export interface FakeFiles extends Files {
  /** Hands every access to the hook, before and after its effect. The returned function takes the hook away. */
  intercept(hook: FileHook): () => void;
  /** Writes in place (not atomically) and makes the directories above. */
  put(path: string, data: string | Buffer, mode?: number): void;
  /** The content as text; undefined when there is no such file. */
  text(path: string): string | undefined;
  /** Makes a FIFO ("other"), a socket or a device. */
  putSpecial(path: string, type: Exclude<FileType, "file" | "directory" | "link">): void;
  /** Makes a symbolic link and the directories above it. */
  putLink(target: string, path: string): void;
  /** Renames, and replaces an existing entry. */
  move(from: string, to: string): void;
  /** Removes a file or a tree. */
  delete(path: string): void;
  /** Makes the directory a mount point, with the entries in it; makes it first if it is absent. */
  mount(path: string): void;
}

/**
 * A hook may throw, to fail the access, or wait, to delay it. A throw in the "after" phase fails an access whose effect
 * has happened, as a crash right after it would. A throw at `notify` loses the notification of a watched directory.
 */
type FileHook = (access: FileAccess) => Promise<void> | void;

/** One access of a file, as a hook sees it. */
export interface FileAccess {
  operation: FileOperation;
  path: string;
  phase: "before" | "after";
}

type FileOperation = keyof Files | keyof OpenedDirectory | "notify";

export function createFakeFiles(tree: MemoryTree): FakeFiles {
  const hooks = new Set<FileHook>();
  const callHooks = async (access: FileAccess) => {
    for (const hook of hooks) await hook(access);
  };
  const watchers = createWatchers(async (path) => {
    await callHooks({ operation: "notify", path, phase: "before" });
  });
  tree.subscribe(watchers.changed);

  const access = async <T>(operation: FileOperation, path: string, effect: () => T): Promise<T> => {
    await callHooks({ operation, path, phase: "before" });
    const result = effect();
    await callHooks({ operation, path, phase: "after" });
    return result;
  };

  return {
    ...createFileAccess(tree, access),
    ...createOperator(tree),
    watch: async (directory, onChange, signal) => {
      const entry = await access("watch", directory, () => findDirectory(tree, "watch", directory));
      await watchers.watch({ path: directory, entry, isThere: () => isAt(tree, directory, entry), onChange }, signal);
    },
    noteRemovals: async (directory) =>
      access("noteRemovals", directory, () => noteRemovalsInMemory(tree, findDirectory(tree, "watch", directory))),
    intercept(hook) {
      hooks.add(hook);
      return () => hooks.delete(hook);
    },
  };
}

function noteRemovalsInMemory(tree: MemoryTree, watched: MemoryEntry): Removals {
  let removed = new Set<string>();
  const end = tree.subscribe((directory, name) => {
    if (directory === watched && name !== undefined) removed.add(name);
  });
  const take = () => {
    const taken = removed;
    removed = new Set();
    return taken;
  };
  return {
    take,
    close() {
      end();
      take();
    },
  };
}

type Access = <T>(operation: FileOperation, path: string, effect: () => T) => Promise<T>;

function createFileAccess(tree: MemoryTree, access: Access): Omit<Files, "watch" | "noteRemovals"> {
  const files: Omit<Files, "watch" | "noteRemovals"> = {
    read: async (path, maxBytes) =>
      access("read", path, () => {
        const data = findFile(tree, "read", path);
        if (data.length > maxBytes) throw fileError("EFBIG", "read", path);
        return Buffer.from(data);
      }),
    list: async (path) =>
      access("list", path, () => {
        return entriesOf(findDirectory(tree, "scandir", path));
      }),
    listBeneath: async (root, path) =>
      access("listBeneath", `${root}/${path}`, () => {
        const entry = findBeneath(tree, { root, path });
        if (entry.content.kind !== "directory") throw fileError("ENOTDIR", "scandir", `${root}/${path}`);
        return entriesOf(entry);
      }),
    openBeneath: async (root, path, options) =>
      access("openBeneath", `${root}/${path}`, () => openBeneath(tree, { root, path, ...options })),
    rename: async (from, to) => access("rename", from, () => renameFile(tree, from, to)),
    openDirectoryBeneath: async (root, path) =>
      access("openDirectoryBeneath", `${root}/${path}`, () => {
        const entry = findBeneath(tree, { root, path, refusesLinks: true });
        if (entry.content.kind !== "directory") throw fileError("ENOTDIR", "open", `${root}/${path}`);
        return openDirectory(entry, { tree, access, files });
      }),
    makeDirectoryBeneath: async (root, path, mode) =>
      access("makeDirectoryBeneath", `${root}/${path}`, () => {
        tree.makeDirectories(root);
        makeBeneath(tree, { root, path, mode });
      }),
    setGroup: async (path, group, mode) =>
      access("setGroup", path, () => {
        const entry = findDirectory(tree, "chmod", path);
        refuseReadOnly(tree.walk(path, { operation: "chmod", followLast: true }));
        Object.assign(entry, { group, mode });
      }),
    changeGroup: async (path, options, signal) => {
      throwIfAborted(signal);
      await access("changeGroup", path, () => changeGroup(tree, path, options));
    },
    createTree: async (path, newTree) => {
      await access("createTree", path, () => makeTreeDirectory(tree, path, newTree));
      for (const name of newTree.files.keys()) {
        await access("createTree", `${path}/${name}`, () => makeTreeFile(tree, { path, name }, newTree));
      }
      for (const [name, target] of newTree.links ?? []) {
        const link = `${path.slice(0, path.lastIndexOf("/"))}/${name}`;
        await access("createTree", link, () => makeTreeLink(tree, target, link));
      }
    },
    stat: async (path) =>
      access("stat", path, () => {
        const how = { operation: "stat", followLast: true };
        const entry = tree.find(path, how);
        return entry && statusOf(entry, tree.walk(path, how).mount.facts.device);
      }),
    diskUsage: async (path, signal) => {
      throwIfAborted(signal);
      return await access("diskUsage", path, () => readDiskUsage(tree, path));
    },
    readLink: async (path) =>
      access("readLink", path, () => {
        const entry = tree.find(path, { operation: "readlink", followLast: false });
        return entry?.content.kind === "link" ? entry.content.target : undefined;
      }),
    writeAtomically: async (path, data, mode) =>
      access("writeAtomically", path, () => replaceFile(tree, path, Buffer.from(data), mode)),
    exchange: async (path, data, mode) =>
      access("exchange", path, () => replaceFile(tree, path, Buffer.from(data), mode)),
    replace: async (path, data, mode) =>
      access("replace", path, () => replaceFile(tree, path, Buffer.from(data), mode)),
    append: async (path, data, mode) => access("append", path, () => appendToFile(tree, path, Buffer.from(data), mode)),
    touch: async (path, mode) => access("touch", path, () => touchFile(tree, path, mode)),
    makeDirectory: async (path, mode) =>
      access("makeDirectory", path, () => {
        const isNew = tree.find(path, { operation: "mkdir", followLast: true }) === undefined;
        const entry = tree.makeDirectories(path);
        entry.mode = mode | (isNew ? entry.mode & 0o2000 : 0);
      }),
    link: async (target, path) => access("link", path, () => replaceLink(tree, target, path)),
    remove: async (path) => access("remove", path, () => removeTree(tree, path)),
    removeEmptyDirectory: async (path) => access("removeEmptyDirectory", path, () => removeEmpty(tree, path)),
  };
  return files;
}

/** Missing directories are made one after the other, so that a link on the way is met before anything is made in it. */
function makeBeneath(tree: MemoryTree, { root, path, mode }: { root: string; path: string; mode: number }): void {
  const names = path.split("/");
  for (let depth = 1; depth <= names.length; depth++) {
    const part = names.slice(0, depth).join("/");
    try {
      const entry = findBeneath(tree, { root, path: part, refusesLinks: true });
      if (entry.content.kind !== "directory") throw fileError("ENOTDIR", "mkdir", `${root}/${part}`);
      if (depth === names.length) entry.mode = mode;
    } catch (error) {
      if (codeOf(error) !== "ENOENT") throw error;
      const made = tree.makeDirectories(`${root}/${part}`);
      made.mode = mode | (made.mode & 0o2000);
    }
  }
}

function createOperator(tree: MemoryTree): Omit<FakeFiles, keyof Files | "intercept"> {
  const makeParent = (path: string) => tree.makeDirectories(path.slice(0, path.lastIndexOf("/")) || "/");
  return {
    put(path, data, mode = 0o644) {
      makeParent(path);
      const place = tree.walk(path, { operation: "open", followLast: true });
      if (place.entry?.content.kind === "file") {
        place.entry.content.data = Buffer.from(data);
        tree.touch(place.entry);
      } else {
        tree.attach(place, tree.create({ kind: "file", data: Buffer.from(data) }, mode));
      }
    },
    text(path) {
      const entry = tree.find(path, { operation: "open", followLast: true });
      return entry?.content.kind === "file" ? entry.content.data.toString() : undefined;
    },
    putSpecial(path, type) {
      makeParent(path);
      tree.attach(
        tree.walk(path, { operation: "mknod", followLast: false }),
        tree.create({ kind: "special", type }, 0o600),
      );
    },
    putLink(target, path) {
      makeParent(path);
      replaceLink(tree, target, path);
    },
    move(from, to) {
      const source = tree.walk(from, { operation: "rename", followLast: false });
      if (source.entry === undefined) throw fileError("ENOENT", "rename", from);
      makeParent(to);
      tree.detach(source);
      tree.attach(tree.walk(to, { operation: "rename", followLast: false }), source.entry);
    },
    delete: (path) => tree.detach(tree.walk(path, { operation: "unlink", followLast: false })),
    mount(path) {
      const entry = tree.makeDirectories(path);
      const { mount } = tree.walk(path, { operation: "mount", followLast: true });
      tree.layers.mount({ mount, entry }, entry, mount.facts);
    },
  };
}

function entriesOf(directory: MemoryEntry): DirectoryEntry[] {
  const children = [...(childrenOf(directory) ?? [])].map(([name, child]) => ({ name, type: typeOf(child) }));
  return children.sort((a, b) => (a.name < b.name ? -1 : 1));
}

function findFile(tree: MemoryTree, operation: string, path: string): Buffer {
  const { entry } = tree.walk(path, { operation, followLast: true });
  if (entry === undefined) throw fileError("ENOENT", operation, path);
  if (entry.content.kind === "directory") throw fileError("EISDIR", operation, path);
  if (entry.content.kind !== "file") throw fileError("EINVAL", operation, path);
  return entry.content.data;
}

function findDirectory(tree: MemoryTree, operation: string, path: string): MemoryEntry {
  const { entry } = tree.walk(path, { operation, followLast: true });
  if (entry === undefined) throw fileError("ENOENT", operation, path);
  if (entry.content.kind !== "directory") throw fileError("ENOTDIR", operation, path);
  return entry;
}

function isAt(tree: MemoryTree, path: string, entry: MemoryEntry): boolean {
  return tree.find(path, { operation: "stat", followLast: true }) === entry;
}

/** A rename puts a new file at the path itself: a link there is replaced, not followed. */
function replaceFile(tree: MemoryTree, path: string, data: Buffer, mode: number): void {
  const place = tree.walk(path, { operation: "rename", followLast: false });
  if (place.entry?.content.kind === "directory") throw fileError("EISDIR", "rename", path);
  tree.attach(place, tree.create({ kind: "file", data }, mode));
}

function makeTreeDirectory(tree: MemoryTree, path: string, { directoryMode, group = 0 }: NewTree): void {
  const place = tree.walk(path, { operation: "mkdir", followLast: false });
  if (place.entry !== undefined) throw fileError("EEXIST", "mkdir", path);
  const entry = tree.create({ kind: "directory", children: new Map() }, directoryMode);
  tree.attach(place, Object.assign(entry, { group }));
}

function makeTreeFile(tree: MemoryTree, { path, name }: { path: string; name: string }, newTree: NewTree): void {
  const file = newTree.files.get(name);
  if (file === undefined) return;
  const directories = name.split("/").slice(0, -1);
  for (const index of directories.keys()) {
    const directory = `${path}/${directories.slice(0, index + 1).join("/")}`;
    if (tree.find(directory, { operation: "mkdir", followLast: false }) === undefined) {
      makeTreeDirectory(tree, directory, newTree);
    }
  }
  const entry = tree.create({ kind: "file", data: Buffer.from(file.data) }, file.mode);
  const owner = { user: file.user ?? 0, group: newTree.group ?? 0 };
  tree.attach(tree.walk(`${path}/${name}`, { operation: "open", followLast: false }), Object.assign(entry, owner));
}

function makeTreeLink(tree: MemoryTree, target: string, path: string): void {
  const place = tree.walk(path, { operation: "symlink", followLast: false });
  if (place.entry !== undefined) throw fileError("EEXIST", "symlink", path);
  tree.attach(place, tree.create({ kind: "link", target }, 0o777));
}

function appendToFile(tree: MemoryTree, path: string, data: Buffer, mode: number): void {
  const entry = openToWrite(tree, path, mode);
  if (entry.content.kind !== "file") return;
  entry.content.data = Buffer.concat([entry.content.data, data]);
  tree.touch(entry);
}

function touchFile(tree: MemoryTree, path: string, mode: number): void {
  openToWrite(tree, path, mode).mode = mode;
}

/** Finds the file, or makes an empty one. */
function openToWrite(tree: MemoryTree, path: string, mode: number): MemoryEntry {
  const place = tree.walk(path, { operation: "open", followLast: false });
  if (place.entry === undefined) {
    const entry = tree.create({ kind: "file", data: Buffer.alloc(0) }, mode);
    tree.attach(place, entry);
    return entry;
  }
  if (place.entry.content.kind === "link") throw fileError("ELOOP", "open", path);
  if (place.entry.content.kind === "directory") throw fileError("EISDIR", "open", path);
  if (place.entry.content.kind === "special") throw fileError("EINVAL", "open", path);
  refuseReadOnly(place);
  return place.entry;
}

function replaceLink(tree: MemoryTree, target: string, path: string): void {
  const place = tree.walk(path, { operation: "symlink", followLast: false });
  if (place.entry !== undefined && place.entry.content.kind !== "link") throw fileError("EEXIST", "symlink", path);
  if (place.entry?.content.kind === "link" && place.entry.content.target === target) return;
  tree.attach(place, tree.create({ kind: "link", target }, 0o777));
}

function removeEmpty(tree: MemoryTree, path: string): void {
  const entry = tree.find(path, { operation: "rmdir", followLast: false });
  if (entry === undefined) return;
  const children = childrenOf(entry);
  if (children === undefined) throw fileError("ENOTDIR", "rmdir", path);
  if (tree.walk(path, { operation: "rmdir", followLast: false }).isMountPoint) throw fileError("EBUSY", "rmdir", path);
  if (children.size > 0) throw fileError("ENOTEMPTY", "rmdir", path);
  removeTree(tree, path);
}

function removeTree(tree: MemoryTree, path: string): void {
  if (tree.find(path, { operation: "unlink", followLast: false }) === undefined) return;
  const place = tree.walk(path, { operation: "unlink", followLast: false });
  const { entry } = place;
  if (entry?.content.kind === "directory") {
    if (place.isMountPoint) throw fileError("EBUSY", "rmdir", path);
    for (const name of [...entry.content.children.keys()].sort()) removeTree(tree, `${path}/${name}`);
  }
  tree.detach(place);
}
