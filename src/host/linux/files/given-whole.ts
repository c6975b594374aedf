import { readKernelFile } from "../cgroups/kernel-files.ts";

/** Takes everything: what the kernel does not tell of is set by hand. */
const UNKNOWN = 0o777;
let umask: number | undefined;

/**
 * Whether a file or directory that is made with this mode gets all of it, so that the mode need not be set afterwards. A mode
 * with more than the nine bits of rights is always set. The umask is read once, because this process never changes its own;
 * Node.js can only tell it by changing it for a moment, for all threads.
 */
export function isGivenWhole(mode: number): boolean {
  umask ??= readUmask(readKernelFile("/proc/self/status"));
  return mode <= 0o777 && (mode & umask) === 0;
}

/** Reads it from the text of `/proc/self/status`; kernels before 4.7 do not tell. */
export function readUmask(status: string | undefined): number {
  const digits = /^Umask:\s*([0-7]+)$/m.exec(status ?? "")?.[1];
  return digits === undefined ? UNKNOWN : Number.parseInt(digits, 8);
}
