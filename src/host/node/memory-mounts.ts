import { execFile } from "node:child_process";
import { readFile, realpath } from "node:fs/promises";
import { promisify } from "node:util";
import { codeOf } from "../../base/errors.ts";

const run = promisify(execFile);
const TIMEOUT_MS = 30_000;

/** Mounts a tmpfs, readable for all as kubelet makes it. `mount` is asked by its arguments, no shell sees the path. */
export async function mountMemory(path: string, sizeBytes: bigint | undefined): Promise<void> {
  if (await isMountPoint(path)) return;
  const args = sizeBytes === undefined ? [] : ["-o", `size=${sizeBytes}`];
  await run("mount", ["-t", "tmpfs", ...args, "tmpfs", path], { timeout: TIMEOUT_MS });
}

/** Unmounts until nothing is mounted at the path any more: several may be stacked. */
export async function unmount(path: string): Promise<void> {
  while (await isMountPoint(path)) await run("umount", ["--no-canonicalize", path], { timeout: TIMEOUT_MS });
}

async function isMountPoint(path: string): Promise<boolean> {
  const target = await realpath(path).catch((error: unknown) => {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  });
  if (target === undefined) return false;
  const mounts = await readFile("/proc/self/mountinfo", "utf8");
  return mounts.split("\n").some((line) => unescapePath(line.split(" ")[4] ?? "") === target);
}

/** The kernel writes white space and backslashes in paths as octal numbers. */
function unescapePath(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
}
