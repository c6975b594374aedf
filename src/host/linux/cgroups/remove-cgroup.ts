import { existsSync, rmdirSync } from "node:fs";
import { computeBackOff } from "../../../base/back-off.ts";
import { SECOND } from "../../../base/clock.ts";
import { codeOf } from "../../../base/errors.ts";
import { systemClock } from "../system/system-clock.ts";
import { listKernelDirectories, readKernelFile } from "./kernel-files.ts";
import { parsePids } from "./read-v1.ts";
import { writeKernelFile } from "./write-kernel-file.ts";

/**
 * A process that was killed leaves its cgroup a moment later. The cgroup is tried again after 1 ms, 2 ms, …, a second
 * in all.
 */
const RETRIES = 10;
const RETRY = { initialMs: 1, maxMs: SECOND };
/** No runtime nests cgroups this deep. A container may nest its own as it likes, and takes them along when it ends. */
const MAX_DEPTH = 32;

/** Lists the processes that can be seen from here, in the cgroup and in all below it. */
export function listProcesses(directory: string, depth = 0): number[] {
  const own = parsePids(readKernelFile(`${directory}/cgroup.procs`));
  if (depth === MAX_DEPTH) return own;
  const below = listKernelDirectories(directory).flatMap((name) => listProcesses(`${directory}/${name}`, depth + 1));
  return [...own, ...below];
}

/** Does what `CgroupTree.remove` says, in one hierarchy. */
export async function removeCgroup(directory: string, { killing }: { readonly killing: boolean }): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    try {
      removeTree(directory, 0);
      return;
    } catch (error) {
      if (codeOf(error) !== "EBUSY" || !killing || attempt === RETRIES) throw error;
      killAll(directory);
    }
    await new Promise<void>((resolve) => systemClock.setTimer(computeBackOff(attempt + 1, RETRY), resolve));
  }
}

/**
 * Most cgroups have nothing below them any more, so that one call is enough. They are removed synchronously, as they are made
 * (see `tree-v1.ts`).
 */
function removeTree(directory: string, depth: number): void {
  if (isRemoved(directory)) return;
  const below = depth < MAX_DEPTH ? listKernelDirectories(directory) : [];
  for (const name of below) removeTree(`${directory}/${name}`, depth + 1);
  try {
    rmdirSync(directory);
  } catch (error) {
    if (codeOf(error) !== "ENOENT") throw error;
  }
}

function isRemoved(directory: string): boolean {
  try {
    rmdirSync(directory);
    return true;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return true;
    if (codeOf(error) === "EBUSY" || codeOf(error) === "ENOTEMPTY") return false;
    // A read-only file system refuses even to remove a directory that does not exist.
    if (!existsSync(directory)) return true;
    throw error;
  }
}

/**
 * Kills by the cgroup where the kernel can (version 2 since 5.14), so that no process that was born meanwhile is
 * missed.
 */
function killAll(directory: string): void {
  try {
    writeKernelFile(`${directory}/cgroup.kill`, "1");
    return;
  } catch {
    // The cgroup is of version 1, or the kernel is older.
  }
  for (const pid of listProcesses(directory)) {
    if (pid === process.pid) continue;
    try {
      process.kill(pid, "SIGKILL");
    } catch (error) {
      if (codeOf(error) !== "ESRCH") throw error;
    }
  }
}
