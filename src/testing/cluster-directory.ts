import { rmSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** The directory of one cluster's files, which only their owner can read. */
export interface ClusterDirectory {
  readonly path: string;
  /** Writes a file and returns its path. */
  write(name: string, text: string): Promise<string>;
  remove(): Promise<void>;
  /** Keeps the directory in any case, because its files are needed to remove what remains on the machine. */
  keep(): void;
}

const PRIVATE_FILE = 0o600;
/**
 * The directories that are still there when the process ends, because a cluster was not stopped or `process.exit` was
 * called.
 */
const remaining = new Set<string>();
let isExitWatched = false;

/** Makes a directory that is removed on request, or else when the process ends by itself. */
export async function createClusterDirectory(): Promise<ClusterDirectory> {
  // All clusters share one listener: with one listener for each, Node.js would warn of a leak.
  if (!isExitWatched) process.once("exit", removeRemaining);
  isExitWatched = true;
  const directory = await mkdtemp(join(tmpdir(), "nodelet-cluster-"));
  remaining.add(directory);
  return {
    path: directory,
    async write(name, text) {
      const path = join(directory, name);
      await writeFile(path, text, { mode: PRIVATE_FILE });
      return path;
    },
    keep: () => remaining.delete(directory),
    async remove() {
      if (!remaining.has(directory)) return;
      await rm(directory, { recursive: true, force: true });
      remaining.delete(directory);
    },
  };
}

function removeRemaining(): void {
  for (const directory of remaining) rmSync(directory, { recursive: true, force: true });
}
