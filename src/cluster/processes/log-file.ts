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

/** Reads the last `maxBytes` of a log; empty when there is none. */
export async function readLogTail(path: string, maxBytes: number): Promise<string> {
  try {
    const file = await open(path, "r");
    try {
      const { size } = await file.stat();
      const start = Math.max(0, size - maxBytes);
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
