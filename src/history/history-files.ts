import { codeOf } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import type { Files } from "../host/port.ts";
import { HISTORY_HEADER } from "./history-line.ts";

/** One of the files, which are numbered in the order in which they were begun. */
interface HistoryFile {
  readonly number: number;
  readonly path: string;
  readonly sizeBytes: number;
  /** Milliseconds since the epoch. */
  readonly modifiedAt: number;
}

const NAME = /^(\d{8})\.jsonl$/;
const HISTORY_MODE = 0o600;
/** A file that was moved aside keeps its name with this behind it. */
const ASIDE = ".aside";

/** The path of the file with this number. */
function historyFilePath(directory: string, number: number): string {
  return `${directory}/${String(number).padStart(8, "0")}.jsonl`;
}

/** Lists the files of the history, oldest first; empty where there is no directory yet. */
export async function listHistoryFiles(files: Pick<Files, "list" | "stat">, directory: string): Promise<HistoryFile[]> {
  const entries = await files.list(directory).catch((error: unknown) => {
    if (codeOf(error) === "ENOENT") return [];
    throw error;
  });
  const found: HistoryFile[] = [];
  for (const { name, type } of entries) {
    const number = Number(NAME.exec(name)?.[1]);
    if (type !== "file" || Number.isNaN(number)) continue;
    const path = `${directory}/${name}`;
    const status = await files.stat(path);
    if (status !== undefined) {
      found.push({ number, path, sizeBytes: status.sizeBytes, modifiedAt: status.modifiedAt });
    }
  }
  return found.toSorted((a, b) => a.number - b.number);
}

/** Tells whether the file begins as a history of this version does. `torn` is a file that ends within its first line. */
export async function judgeHistoryFile(
  files: Pick<Files, "openBeneath">,
  directory: string,
  file: Pick<HistoryFile, "path">,
): Promise<"good" | "torn" | "foreign"> {
  const opened = await files.openBeneath(directory, file.path.slice(directory.length + 1), { refusesLinks: true });
  try {
    const head = (await opened.read(0, HISTORY_HEADER.length)).toString();
    if (head === HISTORY_HEADER) return "good";
    return HISTORY_HEADER.startsWith(head) ? "torn" : "foreign";
  } finally {
    await opened.close();
  }
}

/** The limits of the history on the disk. */
interface HistoryBounds {
  readonly directory: string;
  /** The bytes of all files together. */
  readonly maxBytes: number;
}

/** Appends to the newest file, begins another where that is full, and removes the oldest where all are too large. */
export interface HistoryWriter {
  /** Rejects where the disk does not take it; a part of it may then be there. */
  append(lines: string): Promise<void>;
}

/** The history is given up in parts of this size, when all of it is full. */
const PARTS = 16;

/** Opens the directory: makes it, and moves aside what no history of this version is. */
export async function openHistoryWriter(
  { files, log }: { files: Files; log: Log },
  { directory, maxBytes }: HistoryBounds,
): Promise<HistoryWriter> {
  await files.makeDirectory(directory, 0o700);
  for (const file of await listHistoryFiles(files, directory)) {
    const verdict = await judgeHistoryFile(files, directory, file);
    if (verdict === "torn") await files.remove(file.path);
    if (verdict !== "foreign") continue;
    await files.remove(`${file.path}${ASIDE}`);
    await files.rename(file.path, `${file.path}${ASIDE}`);
    const message = "A file of the pods' history is not of this version; it was moved aside and is not read";
    log.warn(message, { file: `${file.path}${ASIDE}` });
  }
  /** The first lines come after an end of line, which closes a record that another process left torn. */
  let isTorn = true;

  const removeOldest = async (): Promise<HistoryFile | undefined> => {
    const present = await listHistoryFiles(files, directory);
    let bytes = present.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
    for (const { path, sizeBytes } of present.slice(0, -1)) {
      if (bytes <= maxBytes) break;
      await files.remove(path);
      bytes -= sizeBytes;
    }
    return present.at(-1);
  };

  return {
    async append(lines) {
      const newest = await removeOldest();
      const isFull = newest === undefined || newest.sizeBytes > maxBytes / PARTS;
      const path = isFull ? historyFilePath(directory, (newest?.number ?? 0) + 1) : newest.path;
      const begin = isFull ? HISTORY_HEADER : isTorn ? "\n" : "";
      isTorn = true;
      await files.append(path, `${begin}${lines}`, HISTORY_MODE).catch(async (error: unknown) => {
        // A file without its whole first line would be taken for a foreign one.
        if (isFull) await files.remove(path);
        throw error;
      });
      isTorn = false;
    },
  };
}
