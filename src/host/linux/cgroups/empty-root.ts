import { existsSync, mkdirSync } from "node:fs";
import { codeOf } from "../../../base/errors.ts";
import { readKernelFile } from "./kernel-files.ts";
import { parsePids } from "./read-v1.ts";
import { writeKernelFile } from "./write-kernel-file.ts";

/** The name that other programs give it which have containers within a container. */
const HOME = "init";
/** Who forks meanwhile leaves a child behind, for the next round. */
const MOST_ROUNDS = 10;

/**
 * Moves the processes of a container's root cgroup of version 2 into one beneath it. The kernel gives the cgroups beneath
 * a root no controllers while processes are in it, and a container begins so; only the machine's own root may have both.
 * It comes before any controller is handed down: the kernel hands down a few all the same, and then lets no process in.
 * Returns how many processes it moved; 0 on a machine of its own, and with version 1.
 */
export function emptyContainerRoot(root = "/sys/fs/cgroup"): number {
  // The machine's own root has no type.
  if (!existsSync(`${root}/cgroup.controllers`) || !existsSync(`${root}/cgroup.type`)) return 0;
  mkdirSync(`${root}/${HOME}`, { recursive: true });
  let moved = 0;
  for (let round = 0; round < MOST_ROUNDS; round++) {
    // Those of other PID namespaces have the number 0, and cannot be named.
    const processes = parsePids(readKernelFile(`${root}/cgroup.procs`)).filter((pid) => pid > 0);
    if (processes.length === 0) break;
    for (const pid of processes) moved += move(pid, `${root}/${HOME}/cgroup.procs`);
  }
  return moved;
}

function move(pid: number, file: string): number {
  try {
    writeKernelFile(file, `${pid}`, "w");
    return 1;
  } catch (error) {
    if (codeOf(error) === "ESRCH") return 0;
    throw error;
  }
}
