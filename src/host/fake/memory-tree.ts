import { posix } from "node:path";
import { assert } from "../../base/assert.ts";
import { fileError } from "../file-error.ts";
import type { FileStatus, FileType } from "../port.ts";
import { childrenOf, type MemoryNode, type NodeContent } from "./memory-node.ts";
import { createMountLayers, type MemoryMount, type MountLayers } from "./mount-layers.ts";

/** A file tree in memory: names, links and what they lead to, with the errors that Linux gives. Not asynchronous. */
export interface MemoryTree {
  /** Where the path leads. Throws `ENOENT`, `ENOTDIR` or `ELOOP` when its directory cannot be reached. */
  walk(path: string, options: WalkOptions): Place;
  /** As `walk`, but what is there; undefined for nothing, also where the directory is missing. */
  find(path: string, options: WalkOptions): MemoryNode | undefined;
  /** Makes a node, not yet in any directory. */
  create(content: NodeContent, mode: number): MemoryNode;
  /** Puts the node in its directory; replaces what was there. */
  attach(place: Place, node: MemoryNode): void;
  detach(place: Place): void;
  /** Says that the node's content or mode changed now. */
  touch(node: MemoryNode): void;
  makeDirectories(path: string): MemoryNode;
  /** The listener is told of each directory in which a name or a file changes. */
  subscribe(listener: (directory: MemoryNode) => void): void;
  readonly layers: MountLayers;
  /** Names from the root of the mount down to the node; undefined when it is not beneath it any more. */
  namesIn(mount: MemoryMount, node: MemoryNode): string[] | undefined;
  /** Where the mount is seen; undefined when the directory that it was mounted over is gone. */
  pathOf(mount: MemoryMount): string | undefined;
}

interface WalkOptions {
  operation: string;
  /** Whether a link in the last place is followed; those before always are. */
  followLast: boolean;
}

export interface Place {
  /** The directory that holds the node; the root holds itself. */
  parent: MemoryNode;
  name: string;
  /** What is seen there: where something is mounted, the root of that. */
  node: MemoryNode | undefined;
  /** That the node is on, or would be. */
  mount: MemoryMount;
  /** Something is mounted over the place itself. */
  isMountPoint: boolean;
  /** For messages only. */
  path: string;
}

/** Linux gives up here too. */
const MAX_LINKS = 40;

export function createMemoryTree(now: () => number): MemoryTree {
  let inodes = 0;
  const listeners: Array<(directory: MemoryNode) => void> = [];
  const onChange = (directory: MemoryNode) => {
    for (const listener of listeners) listener(directory);
  };
  const parents = new Map<MemoryNode, { directory: MemoryNode; name: string }>();

  const create = (content: NodeContent, mode: number): MemoryNode => {
    return { inode: ++inodes, content, mode, user: 0, group: 0, modifiedAt: now(), revision: 0 };
  };
  const root = create({ kind: "directory", children: new Map() }, 0o755);

  const layers = createMountLayers(root);

  const walk = (path: string, options: WalkOptions) => walkFrom(layers, path, options);

  const touch = (node: MemoryNode) => {
    node.revision++;
    node.modifiedAt = now();
    const parent = parents.get(node);
    if (parent !== undefined) onChange(parent.directory);
  };

  const attach = (place: Place, node: MemoryNode) => {
    refuseMountPoint(place);
    const { parent, name, node: replaced } = place;
    if (replaced !== undefined) parents.delete(replaced);
    childrenOf(parent)?.set(name, node);
    parents.set(node, { directory: parent, name });
    // A rename moves the time of change as well, so that a file that replaces another never looks like it.
    node.revision++;
    parent.revision++;
    parent.modifiedAt = now();
    onChange(parent);
  };

  /** Names from the root of the mount down to the node; undefined when it is not beneath it any more. */
  const namesIn = (mount: MemoryMount, node: MemoryNode): string[] | undefined => {
    const names: string[] = [];
    for (let current = node; current !== mount.root; ) {
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
    subscribe: (listener) => void listeners.push(listener),
    find(path, options) {
      try {
        return walk(path, options).node;
      } catch {
        return undefined;
      }
    },
    create,
    attach,
    touch,
    detach(place) {
      const { parent, name, node } = place;
      if (node === undefined) return;
      refuseMountPoint(place);
      childrenOf(parent)?.delete(name);
      parents.delete(node);
      parent.revision++;
      parent.modifiedAt = now();
      onChange(parent);
      if (node.content.kind === "directory") onChange(node);
    },
    makeDirectories(path) {
      for (const ancestor of [...ancestorsOf(path), path]) {
        const place = walk(ancestor, { operation: "mkdir", followLast: true });
        if (place.node === undefined) {
          attach(place, create({ kind: "directory", children: new Map() }, 0o755));
        } else if (place.node.content.kind !== "directory") {
          throw fileError(ancestor === path ? "EEXIST" : "ENOTDIR", "mkdir", path);
        }
      }
      const { node } = walk(path, { operation: "mkdir", followLast: true });
      assert(node !== undefined, "a directory that was just made is there");
      return node;
    },
  };
}

/** A link sends the walk back to the root with what the link stands for. */
function walkFrom(layers: MountLayers, path: string, options: WalkOptions, links = 0): Place {
  assert(posix.isAbsolute(path), "paths are absolute");
  if (links > MAX_LINKS) throw fileError("ELOOP", options.operation, path);
  const names = posix.normalize(path).split("/").filter(Boolean);
  const root = layers.top({ mount: layers.root, node: layers.root.root });
  let at = root;
  for (const [index, name] of names.entries()) {
    const child = childrenOf(at.node)?.get(name);
    const isLast = index === names.length - 1;
    if (child?.content.kind === "link" && (!isLast || options.followLast)) {
      const directory = `/${names.slice(0, index).join("/")}`;
      const target = posix.resolve(directory, child.content.target);
      return walkFrom(layers, posix.join(target, ...names.slice(index + 1)), options, links + 1);
    }
    const seen = child && layers.top({ mount: at.mount, node: child });
    if (isLast) {
      const { mount, node } = seen ?? { mount: at.mount, node: undefined };
      return { parent: at.node, name, node, mount, isMountPoint: mount !== at.mount, path };
    }
    if (seen === undefined) throw fileError("ENOENT", options.operation, path);
    if (seen.node.content.kind !== "directory") throw fileError("ENOTDIR", options.operation, path);
    at = seen;
  }
  return { parent: root.node, name: "", ...root, isMountPoint: true, path };
}

/** Nothing takes the place of a mount, and what was mounted read-only stays as it is. */
function refuseMountPoint(place: Place): void {
  if (place.isMountPoint) throw fileError("EBUSY", "rename", place.path);
  refuseReadOnly(place);
}

/** Throws `EROFS` for what is seen through a read-only mount. */
export function refuseReadOnly({ mount, path }: Pick<Place, "mount" | "path">): void {
  if (mount.facts.options.includes("ro")) throw fileError("EROFS", "open", path);
}

/** As the port names the types. */
export function typeOf(node: MemoryNode): FileType {
  return node.content.kind === "special" ? node.content.type : node.content.kind;
}

/** As the port gives it. */
export function statusOf(node: MemoryNode, device: string): FileStatus {
  return {
    type: typeOf(node),
    sizeBytes: node.content.kind === "file" ? node.content.data.length : 0,
    modifiedAt: node.modifiedAt,
    mode: node.mode,
    user: node.user,
    group: node.group,
    device,
    version: `${node.inode}:${node.revision}`,
  };
}

/** From the top down, without the path itself and without the root. */
function ancestorsOf(path: string): string[] {
  const names = posix.normalize(path).split("/").filter(Boolean);
  return names.slice(0, -1).map((_, index) => `/${names.slice(0, index + 1).join("/")}`);
}
