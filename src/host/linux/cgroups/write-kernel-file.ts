import { closeSync, constants, openSync, writeSync } from "node:fs";
import { open } from "node:fs/promises";
import { codeOf } from "../../../base/errors.ts";

/**
 * Writes to a file of the kernel, which is never created. It writes synchronously, as `readKernelFile` reads, because
 * such a write only changes a number in memory. A file that cannot be read needs the flags `w`.
 */
export function writeKernelFile(path: string, value: string, flags: "r+" | "w" = "r+"): void {
  const descriptor = openSync(path, flags === "w" ? constants.O_WRONLY : flags);
  try {
    writeSync(descriptor, value);
  } finally {
    closeSync(descriptor);
  }
}

/**
 * Writes a limit of memory. For a limit below the memory in use, the kernel takes pages back before the write ends,
 * however long that takes. Another thread waits in that case.
 */
export async function writeMemoryLimit(path: string, bytes: bigint, used: number | undefined): Promise<void> {
  if (used !== undefined && used < bytes) {
    writeKernelFile(path, `${bytes}`);
    return;
  }
  const file = await open(path, "r+");
  try {
    await file.write(`${bytes}`);
  } finally {
    await file.close();
  }
}

/** Returns false where the kernel has no such file. */
export function writeIfPresent(path: string, value: string): boolean {
  try {
    writeKernelFile(path, value);
    return true;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return false;
    throw error;
  }
}
