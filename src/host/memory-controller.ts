import { codeOf } from "../base/errors.ts";
import type { Files } from "./port.ts";

const MAX_BYTES = 64 * 1024;
const CONTROLLERS = "/sys/fs/cgroup/cgroup.controllers";
/** The controllers that the kernel was built with, a line each, and whether they are on. */
const BUILT_IN = "/proc/cgroups";

/**
 * How an administrator turns the controller on. The firmware of a Raspberry Pi tells the kernel to keep it off; there the
 * two words undo that, and no other kernel knows them.
 */
export const MEMORY_CONTROLLER_MEND =
  "start the kernel without cgroup_disable=memory; on a Raspberry Pi add cgroup_enable=memory cgroup_memory=1 to the line of /boot/firmware/cmdline.txt (/boot/cmdline.txt before Debian 12), and restart it";

/** Why a container that has a limit of memory cannot be made without the controller. */
export const MEMORY_LIMIT_ERROR = `the container has a limit of memory, and the kernel's memory controller is off: ${MEMORY_CONTROLLER_MEND}`;

/**
 * False where the kernel neither limits nor counts the memory of cgroups, because it was started with
 * `cgroup_disable=memory` or built without the controller. True where it does not tell.
 */
export async function readHasMemoryController(files: Pick<Files, "read">, version: 1 | 2): Promise<boolean> {
  const text = await files.read(version === 2 ? CONTROLLERS : BUILT_IN, MAX_BYTES).catch((error: unknown) => {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  });
  if (text === undefined) return true;
  if (version === 2) return text.toString().split(/\s+/).includes("memory");
  return /^memory\t\d+\t\d+\t1$/m.test(text.toString());
}
