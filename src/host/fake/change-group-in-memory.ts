import { fileError } from "../file-error.ts";
import { type GroupChange, hasGroup, modeForGroup } from "../group-permissions.ts";
import { childrenOf, type MemoryNode } from "./memory-node.ts";
import { type MemoryTree, refuseReadOnly } from "./memory-tree.ts";
import type { Position } from "./mount-layers.ts";

/** As the port's `changeGroup`. */
export function changeGroup(tree: MemoryTree, path: string, options: GroupChange): void {
  const { node, mount } = tree.walk(path, { operation: "chown", followLast: false });
  if (node === undefined) throw fileError("ENOENT", "chown", path);
  if (node.content.kind === "link") throw fileError("ELOOP", "chown", path);
  if (options.onlyIfRootDiffers && hasGroup(node, options)) return;
  refuseReadOnly({ mount, path });
  changeNode(tree, { mount, node }, options);
}

function changeNode(tree: MemoryTree, at: Position, options: GroupChange): void {
  const { node, mount } = at;
  for (const child of childrenOf(node)?.values() ?? []) {
    const seen = tree.layers.top({ mount, node: child });
    if (seen.mount === mount) changeNode(tree, seen, options);
  }
  apply(node, options);
}

function apply(node: MemoryNode, options: GroupChange): void {
  node.group = options.group;
  if (node.content.kind === "link") return;
  node.mode = modeForGroup({ mode: node.mode, isDirectory: node.content.kind === "directory" }, options);
}
