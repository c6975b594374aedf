import type { FileType } from "../file-type.ts";

/** A file, directory, link or special file in memory. */
export interface MemoryEntry {
  readonly inode: number;
  content: EntryContent;
  mode: number;
  user: number;
  group: number;
  modifiedAt: number;
  revision: number;
}

export type EntryContent =
  | { kind: "file"; data: Buffer }
  | { kind: "directory"; children: Map<string, MemoryEntry> }
  | { kind: "link"; target: string }
  | { kind: "special"; type: Exclude<FileType, "file" | "directory" | "link"> };

/** Undefined for an entry that is no directory. */
export function childrenOf(entry: MemoryEntry): Map<string, MemoryEntry> | undefined {
  return entry.content.kind === "directory" ? entry.content.children : undefined;
}
