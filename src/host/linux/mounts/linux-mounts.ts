import { codeOf } from "../../../base/errors.ts";
import type { Mounts } from "../../mounts-port.ts";
import type { Programs } from "../../programs-port.ts";
import { bindBeneath, bindMount } from "./bind-mounts.ts";
import { createFileSystemMounts } from "./file-system-mounts.ts";
import { createFileSystemGrowth } from "./grow-file-system.ts";
import { readMountIdAt, withPlace } from "./held-place.ts";
import { hugepagesFileSystem, memoryFileSystem, mountEmpty } from "./memory-mounts.ts";
import type { MountCalls } from "./mount-calls.ts";
import { readMountTable } from "./mount-table.ts";
import { createProcessMountCalls } from "./process-mount-calls.ts";
import { createMountPrograms } from "./run-mount-program.ts";
import { unmountTree } from "./unmount-tree.ts";

const UNMOUNT_TIMEOUT_MS = 30_000;

/** Chooses how the kernel is asked. `byPrograms` calls mount(8) and umount(8), for platforms without another way. */
type LoadMountCalls = (byPrograms: MountCalls) => Promise<MountCalls>;

/** The mounts of this machine, in this process's mount namespace. */
export function createLinuxMounts(programs: Pick<Programs, "run">, loadCalls: LoadMountCalls = loadMountCalls): Mounts {
  const run = createMountPrograms(programs);
  const byPrograms = createProcessMountCalls(run);
  let loading: Promise<MountCalls> | undefined;
  /** The calls are loaded on first use: a process that mounts nothing does without them. */
  const load = async () => {
    loading ??= loadCalls(byPrograms).then((calls) => dividedByPlace(calls, byPrograms));
    return await loading;
  };
  return {
    list: readMountTable,
    isMountPoint,
    mountMemory: async (path, sizeBytes) => await mountEmpty(await load(), path, memoryFileSystem(sizeBytes)),
    mountHugepages: async (path, size) => await mountEmpty(await load(), path, hugepagesFileSystem(size)),
    bind: async (source, target, { readOnly = false } = {}) =>
      await bindMount(await load(), { source, target, readOnly }),
    bindBeneath: async (request) => await bindBeneath(await load(), request),
    ...createFileSystemMounts(run),
    ...createFileSystemGrowth(run),
    unmount: async (path, { timeoutMs = UNMOUNT_TIMEOUT_MS, isLocal = false } = {}) =>
      await unmountTree(await load(), path, { timeoutMs, isLocal }),
  };
}

/** A call that waits for another machine must hold a process of its own, and none of the threads of this one. */
function dividedByPlace(calls: MountCalls, byPrograms: MountCalls): MountCalls {
  return {
    mount: async (call) => await calls.mount(call),
    unmount: async (call) => await (call.isLocal ? calls : byPrograms).unmount(call),
  };
}

/** Returns the C library's functions, or programs where those functions cannot be called. */
async function loadMountCalls(byPrograms: MountCalls): Promise<MountCalls> {
  try {
    return (await import("./library-mount-calls.ts")).createLibraryMountCalls();
  } catch {
    return byPrograms;
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
