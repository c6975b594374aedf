import { rmSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Where one cluster's files are, readable by their owner only. */
export interface ClusterDirectory {
  readonly path: string;
  /** Returns the file's path. */
  write(name: string, text: string): Promise<string>;
  remove(): Promise<void>;
  /** It stays, whatever happens: it is by what lies in it that something of the machine can still be removed. */
  keep(): void;
}

const PRIVATE_FILE = 0o600;
/** What is still there when the process ends: somebody forgot to stop a cluster, or called `process.exit`. */
const remaining = new Set<string>();
let isExitWatched = false;

/** Makes a directory that goes when it is told to, or else when the process ends by itself. */
export async function createClusterDirectory(): Promise<ClusterDirectory> {
  // One listener for all clusters: each with its own would look like a leak to Node.js.
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
    keep: () => void remaining.delete(directory),
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
