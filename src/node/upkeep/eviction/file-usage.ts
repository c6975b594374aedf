import { untilAborted } from "../../../base/abort.ts";
import { SECOND } from "../../../base/clock.ts";
import { codeOf } from "../../../base/errors.ts";
import type { HangGuard } from "../../../base/hang-guard.ts";
import type { Files } from "../../../host/port.ts";

/**
 * Reads how much of the disk files take, in bytes. A path that does not exist takes nothing. Each call rejects after a
 * time limit if a disk hangs.
 */
export interface FileUsageReader {
  /** Adds up files and whole trees. A tree that cannot be seen as a whole counts as more than any limit. */
  ofPaths(paths: Iterable<string>, signal: AbortSignal): Promise<number>;
  /**
   * Adds up the files in one of the node agent's directories. The directory itself is not counted, because no pod made
   * it.
   */
  ofFilesIn(directory: string, signal: AbortSignal): Promise<number>;
  /** Adds up the files in each subdirectory of one of the node agent's directories. */
  ofFilesBelow(directory: string, signal: AbortSignal): Promise<number>;
}

interface FileUsageReaderDeps {
  readonly files: Pick<Files, "diskUsage" | "list">;
  /** Guards against disks that do not answer. Only these measurements use this guard. */
  readonly guard: Pick<HangGuard, "run">;
}

const LIST_TIMEOUT_MS = 10 * SECOND;
/** The limit is long because a tree may have millions of files. */
const WALK_TIMEOUT_MS = 3_600 * SECOND;
/**
 * No program needs a tree that is so deep. A container that hides its files beneath one must not have more of the disk
 * than it may. Several add up to less than what an amount can be.
 */
const MORE_THAN_ANY_LIMIT = Number.MAX_SAFE_INTEGER;

export function createFileUsageReader({ files, guard }: FileUsageReaderDeps): FileUsageReader {
  const ofPaths = async (paths: Iterable<string>, signal: AbortSignal): Promise<number> => {
    let bytes = 0;
    for (const path of paths) {
      const walk = guard.run(path, WALK_TIMEOUT_MS, async () => await files.diskUsage(path, signal));
      const usage = await untilAborted(walk, signal);
      bytes += usage?.isWhole === false ? MORE_THAN_ANY_LIMIT : (usage?.bytes ?? 0);
    }
    return bytes;
  };

  const list = async (directory: string, kind: "files" | "directories", signal: AbortSignal): Promise<string[]> => {
    const listing = guard.run(directory, LIST_TIMEOUT_MS, async () => await files.list(directory));
    const entries = await untilAborted(listing, signal).catch((error: unknown) => {
      if (codeOf(error) === "ENOENT") return [];
      throw error;
    });
    const found = entries.filter(({ type }) => (type === "directory") === (kind === "directories"));
    return found.map(({ name }) => `${directory}/${name}`);
  };

  const ofFilesIn = async (directory: string, signal: AbortSignal): Promise<number> =>
    await ofPaths(await list(directory, "files", signal), signal);

  return {
    ofPaths,
    ofFilesIn,
    async ofFilesBelow(directory, signal) {
      let bytes = 0;
      for (const found of await list(directory, "directories", signal)) bytes += await ofFilesIn(found, signal);
      return bytes;
    },
  };
}
