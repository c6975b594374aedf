import { CodedError, codeOf } from "../../../base/errors.ts";
import { canForbidSwap } from "../../../host/forbids-swap.ts";
import type { Files, Machine } from "../../../host/port.ts";

const MAX_BYTES = 1024 * 1024;
const CGROUPS = "/sys/fs/cgroup";

/** True where the machine has swap enabled. A kernel without swap shows none. */
async function readHasSwap(files: Pick<Files, "read">): Promise<boolean> {
  try {
    // The first line is a heading.
    return (await files.read("/proc/swaps", MAX_BYTES)).toString().trim().split("\n").length > 1;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return false;
    throw error;
  }
}

/** Rejects, in upstream's words, where the machine has swap enabled. */
export async function requireNoSwap(files: Pick<Files, "read">): Promise<void> {
  if (!(await readHasSwap(files))) return;
  const mend = "please disable swap or set --fail-swap-on flag to false";
  throw new CodedError("swap-on", `running with swap on is not supported, ${mend}`);
}

/** What the machine does with swap that an operator must know: the message of an event, in upstream's words. */
export async function findSwappedVolumes(
  files: Pick<Files, "read">,
  machine: Pick<Machine, "identity">,
): Promise<string | undefined> {
  if (!(await readHasSwap(files)) || canForbidSwap((await machine.identity()).kernelRelease)) return undefined;
  const volumes = "Memory-backed volumes (e.g. secrets, emptyDirs, etc.)";
  return `The tmpfs noswap option is not supported. ${volumes} might be swapped to disk and should no longer be considered secure.`;
}

/**
 * True where the kernel accounts swap for each cgroup. With version 2 the root has no such file, so that the agent's own
 * cgroup is looked at, as upstream does (kuberuntime_container_linux.go, checkSwapControllerAvailability).
 */
export async function readHasSwapController(files: Pick<Files, "read" | "stat">, version: 1 | 2): Promise<boolean> {
  if (version === 1) return (await files.stat(`${CGROUPS}/memory/memory.memsw.limit_in_bytes`)) !== undefined;
  const own = await files.read("/proc/self/cgroup", MAX_BYTES).catch((error: unknown) => {
    if (codeOf(error) === "ENOENT") return Buffer.from("");
    throw error;
  });
  const path = /^0::(\/.*)$/m.exec(own.toString())?.[1];
  return path !== undefined && (await files.stat(`${CGROUPS}${path}/memory.swap.max`)) !== undefined;
}
