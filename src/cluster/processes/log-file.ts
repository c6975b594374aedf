import { copyFile, open, stat, truncate } from "node:fs/promises";
import { codeOf } from "../../base/errors.ts";

const MAX_LOG_BYTES = 10 * 1024 * 1024;

/**
 * Keeps a log that other processes append to near 10 MiB: what it holds moves to `<path>.1`, over the one before.
 * Copied and cut rather than renamed, because the writers keep their descriptor; lines written meanwhile may be lost.
 */
export async function rotateLog(path: string): Promise<void> {
  try {
    if ((await stat(path)).size < MAX_LOG_BYTES) return;
    await copyFile(path, `${path}.1`);
    await truncate(path);
  } catch (error) {
    if (codeOf(error) !== "ENOENT") throw error;
  }
}

/** The last `maxBytes` of a log; empty when there is none. */
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
