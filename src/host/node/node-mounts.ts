import { codeOf } from "../../base/errors.ts";
import type { Mounts } from "../mounts-port.ts";
import { bind, bindBeneath } from "./mounts/bind-mounts.ts";
import { formatAndMount, mountFileSystem } from "./mounts/file-system-mounts.ts";
import { readMountIdAt, withPlace } from "./mounts/held-place.ts";
import { describeHugepages, describeMemory, mountEmpty } from "./mounts/memory-mounts.ts";
import type { MountCalls } from "./mounts/mount-calls.ts";
import { readMountTable } from "./mounts/mount-table.ts";
import { processMountCalls } from "./mounts/process-mount-calls.ts";
import { unmountTree } from "./mounts/unmount-tree.ts";

const UNMOUNT_TIMEOUT_MS = 30_000;

/** The mounts of this machine, in this process's mount namespace. `loadCalls`: how the kernel is asked. */
export function createNodeMounts(loadCalls: () => Promise<MountCalls> = loadMountCalls): Mounts {
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
    return (await import("./mounts/library-mount-calls.ts")).createLibraryMountCalls();
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
