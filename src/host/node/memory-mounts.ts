import { execFile } from "node:child_process";
import { constants } from "node:fs";
import { lstat, open, statfs } from "node:fs/promises";
import { release } from "node:os";
import { dirname } from "node:path";
import { promisify } from "node:util";
import { codeOf } from "../../base/errors.ts";
import { readMountId } from "./mount-id.ts";

const run = promisify(execFile);
const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = constants;
const TIMEOUT_MS = 30_000;
/** What statfs(2) calls a tmpfs. */
const TMPFS_MAGIC = 0x01021994;

/** Mounts a tmpfs, readable for all as kubelet makes it. `mount` is asked by its arguments, no shell sees the path. */
export async function mountMemory(path: string, sizeBytes: bigint | undefined): Promise<void> {
  if (await isMemoryMount(path)) return;
  const options = [...(sizeBytes === undefined ? [] : [`size=${sizeBytes}`]), ...(canForbidSwap() ? ["noswap"] : [])];
  const args = options.length === 0 ? [] : ["-o", options.join(",")];
  await run("mount", ["-t", "tmpfs", ...args, "tmpfs", path], { timeout: TIMEOUT_MS });
}

/**
 * Asked of the kernel in two calls rather than read out of the table of mounts, which has a line for every container's
 * file system: each tmpfs is a device of its own.
 */
async function isMemoryMount(path: string): Promise<boolean> {
  try {
    if ((await statfs(path)).type !== TMPFS_MAGIC) return false;
    const [own, parent] = [await lstat(path), await lstat(dirname(path))];
    return own.isDirectory() && own.dev !== parent.dev;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return false;
    throw error;
  }
}

/** From Linux 6.4 (pkg/kubelet/util/swap): secrets of a pod then never reach a disk. */
function canForbidSwap(): boolean {
  const [major = 0, minor = 0] = release().split(".").map(Number);
  return major > 6 || (major === 6 && minor >= 4);
}

/** Unmounts until nothing is mounted at the path any more: several may be stacked. */
export async function unmount(path: string): Promise<void> {
  while (await isMountPoint(path)) await run("umount", ["--no-canonicalize", path], { timeout: TIMEOUT_MS });
}

/** Asked of two descriptors rather than of the table of all mounts. A link is none: what it leads to is not unmounted. */
async function isMountPoint(path: string): Promise<boolean> {
  const [own, parent] = [await mountIdOf(path, O_NOFOLLOW), await mountIdOf(dirname(path), 0)];
  return own !== undefined && own !== parent;
}

async function mountIdOf(directory: string, flags: number): Promise<string | undefined> {
  const handle = await open(directory, O_RDONLY | O_DIRECTORY | flags).catch((error: unknown) => {
    if (["ENOENT", "ENOTDIR", "ELOOP"].includes(codeOf(error) ?? "")) return undefined;
    throw error;
  });
  try {
    return handle && (await readMountId(handle));
  } finally {
    await handle?.close();
  }
}
