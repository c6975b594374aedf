import { codeOf } from "../base/errors.ts";
import type { TimelineRecord } from "../base/timeline.ts";
import type { Files } from "../host/port.ts";
import { judgeHistoryFile, listHistoryFiles } from "./history-files.ts";
import { historyLinePrefix, parseHistoryLine } from "./history-line.ts";

/** Which records are wanted. */
export interface HistoryQuery {
  readonly namespace: string;
  readonly name: string;
  /** Milliseconds since the epoch: only what happened at or after it. Default: all. */
  readonly since?: number | undefined;
}

/** The records of the pods that had the name, oldest first; of too many the newest. */
export interface HistoryAnswer {
  readonly records: readonly TimelineRecord[];
  /** The files that are of another version or cannot be read, by path, and why. */
  readonly unread: readonly string[];
}

const MAX_RECORDS = 2_000;
/** No file of ours is longer: it is full at a sixteenth of the history, and takes one more write. */
const MAX_FILE_BYTES = 256 * 1024 * 1024;

/** Reads the history from the disk, whether a node agent runs or not. Changes nothing there. */
export async function readHistory(
  files: Pick<Files, "list" | "stat" | "openBeneath" | "read">,
  directory: string,
  query: HistoryQuery,
): Promise<HistoryAnswer> {
  const unread: string[] = [];
  const found = new Map<string, TimelineRecord>();
  for (const file of await listHistoryFiles(files, directory)) {
    try {
      if ((await judgeHistoryFile(files, directory, file)) === "good") {
        collectRecords(await files.read(file.path, MAX_FILE_BYTES), query, found);
      } else {
        unread.push(`${file.path}: it is of another version, or torn`);
      }
    } catch (error) {
      // The agent removes its oldest file meanwhile.
      if (codeOf(error) !== "ENOENT") unread.push(`${file.path}: ${String(error)}`);
    }
  }
  return { records: [...found.values()].slice(-MAX_RECORDS), unread };
}

function collectRecords(
  data: Buffer,
  { since = Number.NEGATIVE_INFINITY, ...pod }: HistoryQuery,
  found: Map<string, TimelineRecord>,
): void {
  const prefix = Buffer.from(`\n${historyLinePrefix(pod)}`);
  for (let start = data.indexOf(prefix); start >= 0; start = data.indexOf(prefix, start + 1)) {
    const end = data.indexOf("\n", start + 1);
    const record = parseHistoryLine(data.subarray(start + 1, end < 0 ? data.length : end).toString());
    if (record === undefined || record.at < since) continue;
    // Progress is the same decision whatever it tells.
    const message = record.isProgress === true ? "" : record.message;
    const key = [record.pod.uid, record.firstAt, record.reason, record.container ?? "", message].join("\n");
    // A repeated decision has a line for some of its counts; the last one says the most.
    found.delete(key);
    found.set(key, record);
  }
}
