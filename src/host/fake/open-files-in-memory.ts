import { gzipSync } from "node:zlib";
import { assert } from "../../base/assert.ts";
import { fileError } from "../file-error.ts";
import type { OpenedFile } from "../opened-file.ts";
import { type Beneath, findBeneath } from "./bind-beneath-in-memory.ts";
import type { MemoryEntry } from "./memory-entry.ts";
import type { MemoryTree } from "./memory-tree.ts";

/** Does what the port's `openBeneath` says. */
export function openBeneath(tree: MemoryTree, request: Beneath): OpenedFile {
  const { root, path } = request;
  const entry = findBeneath(tree, request);
  if (entry.content.kind === "directory") throw fileError("EISDIR", "open", `${root}/${path}`);
  if (entry.content.kind !== "file") throw fileError("EINVAL", "open", `${root}/${path}`);
  let isOpen = true;
  const data = () => {
    assert(isOpen, "a file is used before it is closed");
    return entry.content.kind === "file" ? entry.content.data : Buffer.alloc(0);
  };
  return {
    identity: String(entry.inode),
    status: async () => ({ sizeBytes: data().length, modifiedAt: entry.modifiedAt }),
    read: async (position, maxBytes) => Buffer.from(data().subarray(position, position + maxBytes)),
    async close() {
      assert(isOpen, "a file is closed once");
      isOpen = false;
    },
  };
}

/** Does what the port's `rename` says, in one step. */
export function renameFile(tree: MemoryTree, from: string, to: string): void {
  const source = tree.walk(from, { operation: "link", followLast: false });
  if (source.entry === undefined) throw fileError("ENOENT", "link", from);
  const target = tree.walk(to, { operation: "link", followLast: false });
  if (target.entry !== undefined) throw fileError("EEXIST", "link", to);
  tree.detach(source);
  tree.attach(target, source.entry);
}

/** Does what the port's `OpenedDirectory.compress` says, in one step. */
export function compressFile(
  tree: MemoryTree,
  from: string,
  to: { path: string; unfinished: string; maxBytes: number },
): void {
  const source = fileAt(tree, from);
  if (source.data.length > to.maxBytes) throw fileError("EFBIG", "open", from);
  const unfinished = tree.walk(to.unfinished, { operation: "unlink", followLast: false });
  tree.detach(unfinished);
  const target = tree.walk(to.path, { operation: "rename", followLast: false });
  tree.attach(target, tree.create({ kind: "file", data: gzipSync(source.data) }, source.mode));
}

function fileAt(tree: MemoryTree, path: string): { data: Buffer; mode: number } {
  const entry: MemoryEntry | undefined = tree.walk(path, { operation: "open", followLast: false }).entry;
  if (entry === undefined) throw fileError("ENOENT", "open", path);
  if (entry.content.kind === "link") throw fileError("ELOOP", "open", path);
  if (entry.content.kind === "directory") throw fileError("EISDIR", "open", path);
  if (entry.content.kind !== "file") throw fileError("EINVAL", "open", path);
  return { data: entry.content.data, mode: entry.mode };
}
