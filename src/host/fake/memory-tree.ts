import { posix } from "node:path";
import { assert } from "../../base/assert.ts";
import { fileError } from "../file-error.ts";
import type { FileStatus, FileType } from "../port.ts";

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
}

export interface WalkOptions {
  operation: string;
  /** Whether a link in the last place is followed; those before always are. */
  followLast: boolean;
}

export interface Place {
  /** The directory that holds the node; the root holds itself. */
  parent: MemoryNode;
  name: string;
  node: MemoryNode | undefined;
}

/** A file, directory, link or special file in memory. */
export interface MemoryNode {
  readonly inode: number;
  content: NodeContent;
  mode: number;
  user: number;
  group: number;
  modifiedAt: number;
  revision: number;
}

export type NodeContent =
  | { kind: "file"; data: Buffer }
  | { kind: "directory"; children: Map<string, MemoryNode>; isMount: boolean }
  | { kind: "link"; target: string }
  | { kind: "special"; type: Exclude<FileType, "file" | "directory" | "link"> };

/** Linux gives up here too. */
const MAX_LINKS = 40;

/** `onChange` is told of each directory in which a name or a file changed. */
export function createMemoryTree(now: () => number, onChange: (directory: MemoryNode) => void): MemoryTree {
  let inodes = 0;
  const parents = new Map<MemoryNode, MemoryNode>();

  const create = (content: NodeContent, mode: number): MemoryNode => {
    return { inode: ++inodes, content, mode, user: 0, group: 0, modifiedAt: now(), revision: 0 };
  };
  const root = create({ kind: "directory", children: new Map(), isMount: true }, 0o755);

  const walk = (path: string, options: WalkOptions) => walkFrom(root, path, options);

  const touch = (node: MemoryNode) => {
    node.revision++;
    node.modifiedAt = now();
    const parent = parents.get(node);
    if (parent !== undefined) onChange(parent);
  };

  const attach = ({ parent, name, node: replaced }: Place, node: MemoryNode) => {
    if (replaced !== undefined) parents.delete(replaced);
    childrenOf(parent)?.set(name, node);
    parents.set(node, parent);
    // A rename moves the time of change as well, so that a file that replaces another never looks like it.
    node.revision++;
    parent.revision++;
    parent.modifiedAt = now();
    onChange(parent);
  };

  return {
    walk,
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
    detach({ parent, name, node }) {
      if (node === undefined) return;
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
          attach(place, create({ kind: "directory", children: new Map(), isMount: false }, 0o755));
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
function walkFrom(root: MemoryNode, path: string, options: WalkOptions, links = 0): Place {
  assert(posix.isAbsolute(path), "paths are absolute");
  if (links > MAX_LINKS) throw fileError("ELOOP", options.operation, path);
  const names = posix.normalize(path).split("/").filter(Boolean);
  let parent = root;
  for (const [index, name] of names.entries()) {
    const node = childrenOf(parent)?.get(name);
    const isLast = index === names.length - 1;
    if (node?.content.kind === "link" && (!isLast || options.followLast)) {
      const directory = `/${names.slice(0, index).join("/")}`;
      const target = posix.resolve(directory, node.content.target);
      return walkFrom(root, posix.join(target, ...names.slice(index + 1)), options, links + 1);
    }
    if (isLast) return { parent, name, node };
    if (node === undefined) throw fileError("ENOENT", options.operation, path);
    if (node.content.kind !== "directory") throw fileError("ENOTDIR", options.operation, path);
    parent = node;
  }
  return { parent: root, name: "", node: root };
}

/** Undefined for what is no directory. */
export function childrenOf(node: MemoryNode): Map<string, MemoryNode> | undefined {
  return node.content.kind === "directory" ? node.content.children : undefined;
}

/** As the port names the types. */
export function typeOf(node: MemoryNode): FileType {
  return node.content.kind === "special" ? node.content.type : node.content.kind;
}

/** As the port gives it. */
export function statusOf(node: MemoryNode): FileStatus {
  return {
    type: typeOf(node),
    sizeBytes: node.content.kind === "file" ? node.content.data.length : 0,
    modifiedAt: node.modifiedAt,
    mode: node.mode,
    user: node.user,
    group: node.group,
    version: `${node.inode}:${node.revision}`,
  };
}

/** From the top down, without the path itself and without the root. */
function ancestorsOf(path: string): string[] {
  const names = posix.normalize(path).split("/").filter(Boolean);
  return names.slice(0, -1).map((_, index) => `/${names.slice(0, index + 1).join("/")}`);
}
