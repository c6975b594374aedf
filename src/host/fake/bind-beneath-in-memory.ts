import { posix } from "node:path";
import { CodedError } from "../../base/errors.ts";
import { fileError } from "../file-error.ts";
import type { FileType } from "../file-type.ts";
import type { BindBeneath } from "../mounts-port.ts";
import { childrenOf, type MemoryEntry } from "./memory-entry.ts";
import { type MemoryTree, type Place, typeOf } from "./memory-tree.ts";
import { bindPlace, findMountTarget, findPlace, kindOf, unmountAll } from "./mount-in-memory.ts";

/** Linux gives up after this many links, too. */
const MAX_LINKS = 40;

/**
 * Does what the port's `bindBeneath` says. Nothing happens at the same time here, so that paths may be walked by name.
 */
export function bindBeneath(tree: MemoryTree, request: BindBeneath): { type: FileType } {
  const { root, target, directoryMode } = request;
  if (request.path.startsWith("/") || request.path.split("/").includes("..")) {
    throw beneathError("EINVAL", request, "it must be relative");
  }
  const real = realPathOf(tree, root);
  const from = walkBeneath(tree, real, request);
  if (from === undefined) {
    if (directoryMode === undefined) throw fileError("ENOENT", "open", posix.join(root, request.path));
    makeBeneath(tree, real, { ...request, directoryMode });
    return bindBeneath(tree, request);
  }
  unmountAll(tree, target);
  makeTarget(tree, target, kindOf(from.entry));
  bindPlace(tree, from, { over: findMountTarget(tree, target, kindOf(from.entry)), readOnly: false });
  return { type: typeOf(from.entry) };
}

/** Finds the entry at a path beneath a root, as the port's `openBeneath` does. Throws where there is none. */
export function findBeneath(tree: MemoryTree, request: Beneath): MemoryEntry {
  const { root, path } = request;
  if (path.startsWith("/") || path.split("/").includes("..")) {
    throw beneathError("EINVAL", request, "it must be relative");
  }
  tree.walk(root, { operation: "open", followLast: true });
  const place = walkBeneath(tree, realPathOf(tree, root), request);
  if (place === undefined) throw fileError("ENOENT", "open", posix.join(root, path));
  return place.entry;
}

/** The place to look at. */
export interface Beneath extends Pick<BindBeneath, "root" | "path"> {
  readonly refusesLinks?: boolean;
}

/** Makes a directory or an empty file. */
function makeTarget(tree: MemoryTree, path: string, kind: "directory" | "file"): void {
  const place = tree.walk(path, { operation: "mount", followLast: false });
  if (place.entry?.content.kind === "link") throw fileError("ELOOP", "mount", path);
  if (place.entry !== undefined) {
    if (kindOf(place.entry) === kind) return;
    if (childrenOf(place.entry)?.size) throw fileError("ENOTEMPTY", "rmdir", path);
    tree.detach(place);
  }
  const isDirectory = kind === "directory";
  const content = isDirectory
    ? { kind: "directory" as const, children: new Map<string, MemoryEntry>() }
    : { kind: "file" as const, data: Buffer.alloc(0) };
  tree.attach({ ...place, entry: undefined }, tree.create(content, isDirectory ? 0o750 : 0o640));
}

/** Follows links one by one, each only as long as it stays beneath the root. Undefined where a name is missing. */
function walkBeneath(tree: MemoryTree, root: string, request: Beneath): (Place & { entry: MemoryEntry }) | undefined {
  const path = resolveBeneath(tree, root, request);
  const place = findPlace(tree, path.at, false);
  return path.missing.length > 0 ? undefined : place;
}

/** The path of the last entry that exists, and the names that are missing below it. */
function resolveBeneath(tree: MemoryTree, root: string, request: Beneath): { at: string; missing: string[] } {
  const names = request.path.split("/").filter(isName);
  let at = root;
  let links = 0;
  for (let name = names.shift(); name !== undefined; name = names.shift()) {
    if (name === "..") {
      if (at === root) throw beneathError("EXDEV", request, "it leads out of the root");
      at = posix.dirname(at);
      continue;
    }
    if (childrenOf(findPlace(tree, at, false).entry) === undefined) {
      throw beneathError("ENOTDIR", request, `'${at}' is no directory`);
    }
    const { entry } = tree.walk(posix.join(at, name), { operation: "open", followLast: false });
    if (entry === undefined) return { at, missing: [name, ...names] };
    if (entry.content.kind !== "link") {
      at = posix.join(at, name);
      continue;
    }
    if (request.refusesLinks === true) throw beneathError("ELOOP", request, `'${name}' is a link`);
    if (++links > MAX_LINKS) throw beneathError("ELOOP", request, "too many links");
    const { target } = entry.content;
    if (posix.isAbsolute(target)) {
      if (target !== root && !target.startsWith(`${root}/`)) {
        throw beneathError("EXDEV", request, "a link leads out of the root");
      }
      at = root;
      names.unshift(...target.slice(root.length).split("/").filter(isName));
    } else names.unshift(...target.split("/").filter(isName));
  }
  return { at, missing: [] };
}

function makeBeneath(tree: MemoryTree, root: string, request: BindBeneath & { directoryMode: number }): void {
  const { at, missing } = resolveBeneath(tree, root, request);
  let path = at;
  for (const name of missing) {
    if (name === "..") throw fileError("ENOENT", "open", path);
    path = posix.join(path, name);
    tree.makeDirectories(path).mode = request.directoryMode;
  }
}

const isName = (name: string) => name !== "" && name !== ".";

function beneathError(code: "EINVAL" | "EXDEV" | "ELOOP" | "ENOTDIR", { root, path }: Beneath, why: string): Error {
  return new CodedError(code, `${code}: cannot open '${path}' beneath '${root}': ${why}`);
}

/** The path without links. */
function realPathOf(tree: MemoryTree, path: string): string {
  let real = "/";
  for (const name of posix.normalize(path).split("/").filter(Boolean)) {
    const { entry } = tree.walk(posix.join(real, name), { operation: "open", followLast: false });
    if (entry?.content.kind !== "link") real = posix.join(real, name);
    else real = realPathOf(tree, posix.resolve(real, entry.content.target));
  }
  return real;
}
