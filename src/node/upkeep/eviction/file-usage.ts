import { untilAborted } from "../../../base/abort.ts";
import { SECOND } from "../../../base/clock.ts";
import { codeOf } from "../../../base/errors.ts";
import type { HangGuard } from "../../../base/hang-guard.ts";
import type { Files } from "../../../host/port.ts";

/** Reads how much of the disk files take, in bytes; what is not there takes nothing. Rejects in time, whatever hangs. */
export interface FileUsageReader {
  /** Of files and of trees as a whole. */
  ofPaths(paths: Iterable<string>, signal: AbortSignal): Promise<number>;
  /** Of the files in a directory of ours, without the directory itself, which nobody's doing is. */
  ofFilesIn(directory: string, signal: AbortSignal): Promise<number>;
  /** The same for each directory in a directory of ours. */
  ofFilesBelow(directory: string, signal: AbortSignal): Promise<number>;
}

interface FileUsageReaderDeps {
  readonly files: Pick<Files, "diskUsage" | "list">;
  /** For disks that do not answer; of these measurements alone. */
  readonly guard: Pick<HangGuard, "run">;
}

const LIST_TIMEOUT_MS = 10 * SECOND;
/** Millions of files are walked through. */
const WALK_TIMEOUT_MS = 3_600 * SECOND;

export function createFileUsageReader({ files, guard }: FileUsageReaderDeps): FileUsageReader {
  const ofPaths = async (paths: Iterable<string>, signal: AbortSignal): Promise<number> => {
    let bytes = 0;
    for (const path of paths) {
      const walk = guard.run(path, WALK_TIMEOUT_MS, async () => await files.diskUsage(path, signal));
      bytes += (await untilAborted(walk, signal))?.bytes ?? 0;
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
