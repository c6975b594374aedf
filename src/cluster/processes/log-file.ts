import { copyFile, open, rm, stat, truncate } from "node:fs/promises";
import { codeOf, isNoSpace } from "../../base/errors.ts";

const MAX_LOG_BYTES = 10 * 1024 * 1024;

/**
 * Keeps a log to which other processes append near 10 MiB: its content moves to `<path>.1` and replaces the one before.
 * The log is copied and truncated rather than renamed, because the writers keep their descriptor; lines written
 * meanwhile may be lost. Where the disk has no room for the copy, the content is given up.
 */
export async function rotateLog(path: string): Promise<void> {
  try {
    if ((await stat(path)).size < MAX_LOG_BYTES) return;
    await copyFile(path, `${path}.1`).catch(async (error: unknown) => {
      if (!isNoSpace(error)) throw error;
      await rm(`${path}.1`, { force: true });
    });
    await truncate(path);
  } catch (error) {
    if (codeOf(error) !== "ENOENT") throw error;
  }
}

/** The size of a log in bytes, 0 when there is none: a mark from which `readLogTail` reads what is written later. */
export async function readLogSize(path: string): Promise<number> {
  try {
    return (await stat(path)).size;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return 0;
    throw error;
  }
}

/**
 * Reads the last `maxBytes` of what a log holds after its first `since` bytes; empty when there is nothing. In a log that has
 * become shorter meanwhile, by a rotation, all is younger.
 */
export async function readLogTail(path: string, maxBytes: number, since = 0): Promise<string> {
  try {
    const file = await open(path, "r");
    try {
      const { size } = await file.stat();
      const start = Math.max(size < since ? 0 : since, size - maxBytes);
      const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(size - start), position: start });
      return buffer.toString("utf8", 0, bytesRead).trim();
    } finally {
      await file.close();
    }
  } catch (error) {
    if (codeOf(error) === "ENOENT") return "";
    throw error;
  }
}
