import { readFileSync } from "node:fs";

/**
 * The id of the mount that an open file is on. Unlike a device number it also tells a bind mount from the mount that it
 * shows. It is read synchronously and not by the pool of threads: the kernel answers from what it holds of this
 * process, without asking the file's own file system, and sooner than a thread is woken. Every removal and every mount
 * asks several times.
 */
export function readMountId(handle: { readonly fd: number }): string {
  const text = readFileSync(`/proc/self/fdinfo/${handle.fd}`, "latin1");
  return /^mnt_id:\s*(\d+)$/m.exec(text)?.[1] ?? "";
}
