import type { OpenFiles } from "../../proc-port.ts";
import { listKernelNames, readKernelLink } from "../cgroups/kernel-files.ts";

/** A directory is listed for each process. */
const MAX_PROCESSES = 1_024;
/** A link is read for each descriptor, about five microseconds. */
const MAX_LINKS = 4_096;
/** So many links take less than a millisecond. */
const LINKS_A_TURN = 64;

/**
 * Counts what the processes have open, as cadvisor does (container/libcontainer/handler.go), but within bounds: beyond
 * them the count is undefined and never too low. `pause` is awaited before each process, and
 * again and again within one.
 */
export async function countOpenFiles(
  proc: string,
  pids: readonly number[],
  pause: () => Promise<void>,
): Promise<OpenFiles | undefined> {
  if (pids.length > MAX_PROCESSES) return undefined;
  let descriptors = 0;
  let sockets = 0;
  for (const pid of pids) {
    await pause();
    const directory = `${proc}/${pid}/fd`;
    const names = listKernelNames(directory) ?? [];
    descriptors += names.length;
    if (descriptors > MAX_LINKS) continue;
    for (const [index, name] of names.entries()) {
      if (index % LINKS_A_TURN === LINKS_A_TURN - 1) await pause();
      if (readKernelLink(`${directory}/${name}`)?.startsWith("socket:") === true) sockets += 1;
    }
  }
  return { descriptors, sockets: descriptors > MAX_LINKS ? undefined : sockets };
}

/** Reads the soft limit of open files in `/proc/PID/limits`. */
export function parseOpenFileLimit(text: string): number | undefined {
  const soft = /^Max open files\s+(\d+|unlimited)\s/m.exec(text)?.[1];
  if (soft === undefined) return undefined;
  return soft === "unlimited" ? -1 : Number(soft);
}
