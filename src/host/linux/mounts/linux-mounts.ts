import { codeOf } from "../../../base/errors.ts";
import type { Mounts } from "../../mounts-port.ts";
import { bind, bindBeneath } from "./bind-mounts.ts";
import { formatAndMount, mountFileSystem } from "./file-system-mounts.ts";
import { readMountIdAt, withPlace } from "./held-place.ts";
import { describeHugepages, describeMemory, mountEmpty } from "./memory-mounts.ts";
import type { MountCalls } from "./mount-calls.ts";
import { readMountTable } from "./mount-table.ts";
import { processMountCalls } from "./process-mount-calls.ts";
import { unmountTree } from "./unmount-tree.ts";

const UNMOUNT_TIMEOUT_MS = 30_000;

/** The mounts of this machine, in this process's mount namespace. `loadCalls`: how the kernel is asked. */
export function createLinuxMounts(loadCalls: () => Promise<MountCalls> = loadMountCalls): Mounts {
  let loading: Promise<MountCalls> | undefined;
  /** On first use: a process that mounts nothing does without. */
  const load = async () => {
    loading ??= loadCalls();
    return await loading;
  };
  return {
    list: readMountTable,
    isMountPoint,
    mountMemory: async (path, sizeBytes) => await mountEmpty(await load(), path, describeMemory(sizeBytes)),
    mountHugepages: async (path, size) => await mountEmpty(await load(), path, describeHugepages(size)),
    bind: async (source, target, { readOnly = false } = {}) => await bind(await load(), { source, target, readOnly }),
    bindBeneath: async (request) => await bindBeneath(await load(), request),
    mountFileSystem,
    formatAndMount,
    unmount: async (path, { timeoutMs = UNMOUNT_TIMEOUT_MS, isLocal = false } = {}) =>
      await unmountTree(await load(), path, { timeoutMs, isLocal }),
  };
}

/** The C library's functions; programs where those cannot be called. */
async function loadMountCalls(): Promise<MountCalls> {
  try {
    return (await import("./library-mount-calls.ts")).createLibraryMountCalls();
  } catch {
    return processMountCalls;
  }
}

async function isMountPoint(path: string): Promise<boolean> {
  if (path === "/") return true;
  try {
    return await withPlace(path, "look at", async (place) => (await readMountIdAt(place)) !== undefined);
  } catch (error) {
    if (codeOf(error) === "ENOENT" || codeOf(error) === "ENOTDIR") return false;
    throw error;
  }
}
