import { fileError } from "../file-error.ts";
import { type GroupChange, hasGroup, modeForGroup } from "../group-permissions.ts";
import { childrenOf, type MemoryEntry } from "./memory-entry.ts";
import { type MemoryTree, refuseReadOnly } from "./memory-tree.ts";
import type { Position } from "./mount-layers.ts";

/** Does what the port's `changeGroup` says. */
export function changeGroup(tree: MemoryTree, path: string, options: GroupChange): void {
  const { entry, mount } = tree.walk(path, { operation: "chown", followLast: false });
  if (entry === undefined) throw fileError("ENOENT", "chown", path);
  if (entry.content.kind === "link") throw fileError("ELOOP", "chown", path);
  if (options.onlyIfRootDiffers && hasGroup(entry, options)) return;
  refuseReadOnly({ mount, path });
  changeEntry(tree, { mount, entry }, options);
}

function changeEntry(tree: MemoryTree, at: Position, options: GroupChange): void {
  const { entry, mount } = at;
  for (const child of childrenOf(entry)?.values() ?? []) {
    const seen = tree.layers.top({ mount, entry: child });
    if (seen.mount === mount) changeEntry(tree, seen, options);
  }
  apply(entry, options);
}

function apply(entry: MemoryEntry, options: GroupChange): void {
  entry.group = options.group;
  if (entry.content.kind === "link") return;
  entry.mode = modeForGroup({ mode: entry.mode, isDirectory: entry.content.kind === "directory" }, options);
}
