import { open, readFile, rm, writeFile } from "node:fs/promises";
import { CodedError, codeOf } from "../base/errors.ts";
import type { JournalErrorCode } from "./port.ts";
import { isBusy, openSqlite } from "./sqlite-database.ts";

/** The lock of a directory's one owner. The system frees it whenever the owner dies. */
interface DirectoryLock {
  release(): Promise<void>;
}

/**
 * Node.js cannot lock files, but SQLite can: the lock is an open transaction on an empty database. Rejects with
 * `in-use` when this or another process has it.
 */
export async function lockDirectory(directory: string): Promise<DirectoryLock> {
  const lockPath = `${directory}/journal.lock`;
  const pidPath = `${directory}/journal.pid`;
  await createPrivateFile(lockPath);
  const database = await openSqlite(lockPath);
  try {
    // The rollback journal is in memory: the transaction writes nothing, and needs no file.
    await database.exec("PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE");
  } catch (error) {
    database.close();
    if (!isBusy(error)) throw error;
    const pid = (await readFile(pidPath, "utf8").catch(() => "")).trim();
    const owner = pid === "" ? "another process" : `process ${pid}`;
    const message = `${directory} is in use by ${owner}: a journal has one owner at a time`;
    throw new CodedError<JournalErrorCode>("in-use", message, { cause: error });
  }
  // The file is for the message above only: it need not be durable, nor be there at all where the disk is full.
  await writeFile(pidPath, `${process.pid}\n`, { mode: 0o600 }).catch(() => undefined);
  return {
    async release() {
      await rm(pidPath, { force: true });
      await database.exec("ROLLBACK");
      database.close();
    },
  };
}

/**
 * SQLite makes files that every user may read, but keeps the mode of a file that exists. An existing file is not
 * opened, because closing it again would give up each lock that this process has on it.
 */
export async function createPrivateFile(path: string): Promise<void> {
  try {
    const file = await open(path, "wx", 0o600);
    await file.close();
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw error;
  }
}
