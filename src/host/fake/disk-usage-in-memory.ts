import type { DiskUsage } from "../port.ts";
import { childrenOf, type MemoryNode } from "./memory-node.ts";
import type { MemoryTree } from "./memory-tree.ts";
import type { Position } from "./mount-layers.ts";

const BLOCK_BYTES = 4_096;

/** As the port's `diskUsage`, on a file system with blocks of 4 KiB, of which each directory takes one. */
export function readDiskUsage(tree: MemoryTree, path: string): DiskUsage | undefined {
  const node = tree.find(path, { operation: "stat", followLast: false });
  if (node === undefined) return undefined;
  const { mount } = tree.walk(path, { operation: "stat", followLast: false });
  return { ...usageOf(tree, { mount, node }), isWhole: true };
}

function usageOf(tree: MemoryTree, { mount, node }: Position): { bytes: number; inodes: number } {
  let bytes = blocksOf(node) * BLOCK_BYTES;
  let inodes = 1;
  for (const child of childrenOf(node)?.values() ?? []) {
    const seen = tree.layers.top({ mount, node: child });
    if (seen.mount !== mount) continue;
    const below = usageOf(tree, seen);
    bytes += below.bytes;
    inodes += below.inodes;
  }
  return { bytes, inodes };
}

function blocksOf({ content }: MemoryNode): number {
  if (content.kind === "directory") return 1;
  return content.kind === "file" ? Math.ceil(content.data.length / BLOCK_BYTES) : 0;
}
