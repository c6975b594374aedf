import { codeOf, messageOf } from "../../../base/errors.ts";
import type { DirectoryEntry, Files } from "../../../host/port.ts";

/** The content of a directory of registration sockets and of those below it. */
export interface SocketScan {
  /** The version of each socket's file, by path. */
  readonly sockets: ReadonlyMap<string, string>;
  /** All directories that were listed, so that they can be watched. The first is the root, where it exists. */
  readonly directories: readonly string[];
  /**
   * The files and directories that were not read, and why. What was known of them, or below them, may still be there.
   */
  readonly unread: ReadonlyMap<string, string>;
}

/** Directories beyond this number are left unread. */
const MAX_DIRECTORIES = 1_000;

/**
 * Walks the directory as upstream does (pkg/kubelet/pluginmanager/pluginwatcher/plugin_watcher.go). It finds sockets at
 * any depth, and links to sockets too. Names that begin with a dot are left out, and linked directories are not
 * entered. Never rejects.
 */
export async function findSockets(files: Pick<Files, "list" | "stat">, root: string): Promise<SocketScan> {
  const sockets = new Map<string, string>();
  const directories: string[] = [];
  const unread = new Map<string, string>();
  const queue = [root];

  const skip = (path: string, error: unknown) => {
    if (codeOf(error) !== "ENOENT" && codeOf(error) !== "ENOTDIR") unread.set(path, messageOf(error));
  };
  const visit = async (path: string, { type }: DirectoryEntry) => {
    if (type === "directory") queue.push(path);
    if (type !== "socket" && type !== "link") return;
    try {
      const status = await files.stat(path);
      if (status?.type === "socket") sockets.set(path, status.version);
    } catch (error) {
      skip(path, error);
    }
  };

  for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
    if (directories.length === MAX_DIRECTORIES) {
      unread.set(next, `more than ${MAX_DIRECTORIES} directories`);
      continue;
    }
    try {
      const entries = await files.list(next);
      directories.push(next);
      for (const entry of entries) if (!entry.name.startsWith(".")) await visit(`${next}/${entry.name}`, entry);
    } catch (error) {
      skip(next, error);
    }
  }
  return { sockets, directories, unread };
}
