import { link, open, rename, rm, stat } from "node:fs/promises";
import { codeOf } from "../base/errors.ts";

/**
 * The size that the file of the write-ahead log has from the first opening on, most of it beyond what the log uses.
 * SQLite writes the log in place, so this much can be written on a disk that is full, and nobody else can take it.
 */
export const LOG_BYTES = 16 * 1024 * 1024;

/** It stands in the place of SQLite's header, for which nothing takes it: such a log is empty. */
const EMPTY_MARK = Buffer.from("nodelet: an empty log, reserved\n");
const CHUNK_BYTES = 256 * 1024;

/** True when these first bytes say that nothing of the log counts. */
export function isMarkedEmpty(header: Buffer): boolean {
  return header.subarray(0, EMPTY_MARK.length).equals(EMPTY_MARK);
}

/**
 * Makes a log count as empty without giving up its place on the disk. To be called when all of it is in the database:
 * SQLite then begins the log anew with its next write.
 */
export async function markEmpty(logPath: string): Promise<void> {
  const file = await open(logPath, "r+");
  try {
    await file.write(EMPTY_MARK, 0, EMPTY_MARK.length, 0);
  } finally {
    await file.close();
  }
}

/**
 * Lets the file of the log have its size. SQLite may have it open, and does not look at what comes after its last
 * frame. Rejects where the disk has no room, and takes none of it then.
 */
export async function reserveLog(logPath: string): Promise<void> {
  const file = await open(logPath, "a", 0o600);
  try {
    const { size } = await file.stat();
    try {
      if (size === 0) await file.appendFile(EMPTY_MARK);
      const zeros = Buffer.alloc(CHUNK_BYTES);
      for (let at = Math.max(size, EMPTY_MARK.length); at < LOG_BYTES; at += CHUNK_BYTES) {
        await file.appendFile(zeros.subarray(0, LOG_BYTES - at));
      }
    } catch (error) {
      await file.truncate(size);
      throw error;
    }
  } finally {
    await file.close();
  }
}

const reserveOf = (logPath: string) => `${logPath}.reserve`;

/**
 * Keeps the file of the log under another name while SQLite closes the database, which removes the log: at the next
 * opening the disk may be full. Where the file system knows no second names, the place is given up.
 */
export async function keepReserve(logPath: string, close: () => Promise<void>): Promise<void> {
  const reserve = reserveOf(logPath);
  await rm(reserve, { force: true });
  await link(logPath, reserve).catch(() => undefined);
  try {
    await close();
  } finally {
    if (await isThere(logPath)) await rm(reserve, { force: true });
  }
}

/** Gives the log the file that an orderly end kept. To be called before the database is opened. */
export async function restoreReserve(databasePath: string, logPath: string): Promise<void> {
  const reserve = reserveOf(logPath);
  if ((await isThere(logPath)) || !(await isThere(databasePath))) return await rm(reserve, { force: true });
  if (!(await isThere(reserve))) return;
  await markEmpty(reserve);
  await rename(reserve, logPath);
}

/** False for an empty file too. */
async function isThere(path: string): Promise<boolean> {
  try {
    return (await stat(path)).size > 0;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return false;
    throw error;
  }
}
