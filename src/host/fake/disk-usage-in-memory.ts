import type { DiskUsage } from "../port.ts";
import { childrenOf, type MemoryEntry } from "./memory-entry.ts";
import type { MemoryTree } from "./memory-tree.ts";
import type { Position } from "./mount-layers.ts";

const BLOCK_BYTES = 4_096;

/** Does what the port's `diskUsage` says, on a file system with blocks of 4 KiB, of which each directory takes one. */
export function readDiskUsage(tree: MemoryTree, path: string): DiskUsage | undefined {
  const entry = tree.find(path, { operation: "stat", followLast: false });
  if (entry === undefined) return undefined;
  const { mount } = tree.walk(path, { operation: "stat", followLast: false });
  return { ...usageOf(tree, { mount, entry }), isWhole: true };
}

function usageOf(tree: MemoryTree, { mount, entry }: Position): { bytes: number; inodes: number } {
  let bytes = blocksOf(entry) * BLOCK_BYTES;
  let inodes = 1;
  for (const child of childrenOf(entry)?.values() ?? []) {
    const seen = tree.layers.top({ mount, entry: child });
    if (seen.mount !== mount) continue;
    const below = usageOf(tree, seen);
    bytes += below.bytes;
    inodes += below.inodes;
  }
  return { bytes, inodes };
}

function blocksOf({ content }: MemoryEntry): number {
  if (content.kind === "directory") return 1;
  return content.kind === "file" ? Math.ceil(content.data.length / BLOCK_BYTES) : 0;
}
