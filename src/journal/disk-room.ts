import { dirname } from "node:path";
import { CodedError, isNoSpace, messageOf } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { crash, runInBackground } from "../base/tasks.ts";
import { LOG_BYTES } from "./log-reserve.ts";
import type { JournalFull, Shortage } from "./port.ts";
import { PAGE_BYTES } from "./record-table.ts";

/** Whether the journal's disk has room, as far as its own writes have shown. */
interface DiskRoom {
  readonly shortage: Shortage | undefined;
  /** Notices from an error that the disk is full. Returns the error for the caller of the journal. */
  notice(error: unknown): unknown;
  /** Counts a record that was written to the log. */
  count(jsonBytes: number): void;
  /** All of the log is in the database, and its place can be written again. */
  logEmptied(): void;
  /** Stops looking for room. */
  close(): void;
}

interface DiskRoomDeps {
  readonly databasePath: string;
  readonly log: Log;
  /** Empties the log and takes back the place that is reserved for it; rejects while the disk has no room for that. */
  recover(): Promise<void>;
}

const RECOVERY_PERIOD_MS = 1_000;
/** A record begins on a page that others share, and changes a page above it. */
const PAGES_AROUND_RECORD = 2;
/** What is left above this is for deletions. */
const LOG_BYTES_OF_UPDATES = (LOG_BYTES * 3) / 4;

/** Follows whether the disk has room. While it has none, `recover` is tried once a second. */
export function createDiskRoom({ databasePath, log, recover }: DiskRoomDeps): DiskRoom {
  const directory = dirname(databasePath);
  const what = `no space left on the disk of ${directory}: make room there`;
  let bytesInLog = 0;
  let timer: NodeJS.Timeout | undefined;
  let isRecovering = false;

  const stop = () => {
    clearInterval(timer);
    timer = undefined;
  };
  const tryRecovery = async () => {
    if (isRecovering) return;
    isRecovering = true;
    try {
      await recover();
      if (timer !== undefined)
        log.info("There is room on the disk again, and everything can be written", { directory });
      stop();
    } catch {
      // There is no room yet, or the journal is lost, which its next caller learns.
    } finally {
      isRecovering = false;
    }
  };

  return {
    get shortage() {
      if (timer === undefined) return undefined;
      const fits: Shortage["fits"] = bytesInLog < LOG_BYTES_OF_UPDATES ? "small-updates" : "deletions";
      return { fits, message: `${what}; until then objects can be deleted, and small changes made` };
    },
    notice(error: unknown) {
      if (!isNoSpace(error)) return error;
      if (timer === undefined) {
        log.error("The disk is full: nothing is created until there is room", { directory, error: messageOf(error) });
        timer = setInterval(() => runInBackground(tryRecovery, crash), RECOVERY_PERIOD_MS);
        timer.unref();
      }
      return new CodedError<JournalFull>("no-space", what, { cause: error });
    },
    count(jsonBytes) {
      bytesInLog += PAGES_AROUND_RECORD * PAGE_BYTES + jsonBytes;
    },
    logEmptied() {
      bytesInLog = 0;
    },
    close: stop,
  };
}
