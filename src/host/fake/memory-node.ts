import type { FileType } from "../file-type.ts";

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
  | { kind: "directory"; children: Map<string, MemoryNode> }
  | { kind: "link"; target: string }
  | { kind: "special"; type: Exclude<FileType, "file" | "directory" | "link"> };

/** Undefined for what is no directory. */
export function childrenOf(node: MemoryNode): Map<string, MemoryNode> | undefined {
  return node.content.kind === "directory" ? node.content.children : undefined;
}
