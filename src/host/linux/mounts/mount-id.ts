import { closeSync, openSync, readSync } from "node:fs";

/** Longer than the lines of any directory or file before and with the one that is read. */
const buffer = Buffer.allocUnsafe(1_024);

/**
 * The id of the mount that an open file is on. Unlike a device number it also tells a bind mount from the mount that it
 * shows. It is read synchronously and not by the pool of threads: the kernel answers from what it holds of this
 * process, without asking the file's own file system, and sooner than a thread is woken. Every removal and every mount
 * asks several times.
 */
export function readMountId(handle: { readonly fd: number }): string {
  const descriptor = openSync(`/proc/self/fdinfo/${handle.fd}`, "r");
  try {
    const length = readSync(descriptor, buffer, 0, buffer.length, null);
    return /^mnt_id:\s*(\d+)$/m.exec(buffer.toString("latin1", 0, length))?.[1] ?? "";
  } finally {
    closeSync(descriptor);
  }
}
