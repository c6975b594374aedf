import type { Files } from "../host/port.ts";
import { listHistoryFiles } from "./history-files.ts";
import { HISTORY_HEADER, readHistoryLineHead } from "./history-line.ts";

/** What is kept: the pods that are there, and those whose last record is young enough. */
interface HistoryKeeping {
  readonly directory: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** How long the records of a pod are kept after its last one. */
  readonly maxAgeMs: number;
  /** Tells whether the pod with this UID is still there, however old its records are. */
  isPresent(uid: string): boolean;
}

const MAX_FILE_BYTES = 256 * 1024 * 1024;

/**
 * Removes the records of pods that have been gone for too long. Only files that nobody has written to for as long are
 * looked at, so that the newest, to which the agent appends, is never replaced.
 */
export async function sweepHistory(
  files: Pick<Files, "list" | "stat" | "read" | "replace" | "remove">,
  { directory, now, maxAgeMs, isPresent }: HistoryKeeping,
): Promise<void> {
  const all = await listHistoryFiles(files, directory);
  const old = all.slice(0, -1).filter(({ modifiedAt }) => now - modifiedAt > maxAgeMs);
  if (old.length === 0) return;
  const lastAt = new Map<string, number>();
  for (const { path } of all) {
    for (const line of await readLines(files, path)) {
      const head = readHistoryLineHead(line);
      if (head !== undefined) lastAt.set(head.uid, head.at);
    }
  }
  const isKept = (uid: string) => now - (lastAt.get(uid) ?? 0) <= maxAgeMs || isPresent(uid);
  for (const file of old) {
    const lines = await readLines(files, file.path);
    const staying = lines.filter((line) => {
      const uid = readHistoryLineHead(line)?.uid;
      return uid !== undefined && isKept(uid);
    });
    if (staying.length === 0) await files.remove(file.path);
    else if (staying.length < lines.length) {
      await files.replace(file.path, `${HISTORY_HEADER}${staying.join("\n")}\n`, 0o600);
    }
  }
}

async function readLines(files: Pick<Files, "read">, path: string): Promise<string[]> {
  const text = (await files.read(path, MAX_FILE_BYTES)).toString();
  return text.split("\n").filter((line) => line !== "" && `${line}\n` !== HISTORY_HEADER);
}
