import { closeSync, openSync, writeSync } from "node:fs";
import { open } from "node:fs/promises";
import { codeOf } from "../../../base/errors.ts";

/**
 * Writes to a file of the kernel's, which is never made. At once, as `readKernelFile` reads: what is written this way
 * changes a number in memory.
 */
export function writeKernelFile(path: string, value: string): void {
  const descriptor = openSync(path, "r+");
  try {
    writeSync(descriptor, value);
  } finally {
    closeSync(descriptor);
  }
}

/**
 * A limit of memory. Below what is used the kernel takes pages back before the write ends, however long that takes: then it
 * is another thread that waits.
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

/** False where the kernel has no such file. */
export function writeIfPresent(path: string, value: string): boolean {
  try {
    writeKernelFile(path, value);
    return true;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return false;
    throw error;
  }
}
