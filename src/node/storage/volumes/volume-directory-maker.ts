import { createLimiter, type Limiter } from "../../../base/limiter.ts";
import type { Mounts } from "../../../host/mounts-port.ts";
import type { Files } from "../../../host/port.ts";
import type { VolumeDirectories } from "./volume-directories.ts";

/** World-writable, as kubelet has it, because containers of any user share the volume. */
const MODE = 0o777;
/** The mode of the root of a file system in memory, which has the sticky bit too. */
const MEMORY_MODE = 0o1777;
/** Set with `fsGroup`, so that new files in the volume belong to that group. */
const SET_GROUP_ID = 0o2000;
/** A mount may be a process, and a burst of pods must not become a burst of processes. Further mounts wait in line. */
const PARALLEL_MOUNTS = 8;

export interface VolumeDirectoryPlan {
  pluginName: string;
  volumeName: string;
  /** Undefined: the volume is on the disk. With a page size it is made of huge pages. */
  memory: { sizeBytes: bigint | undefined; pageSizeBytes?: bigint } | undefined;
  group: number | undefined;
}

/** A directory that is ready for what the volume shows. */
interface VolumeDirectory {
  readonly path: string;
  /** It was made by this call, so that nothing is in it. */
  readonly isNew: boolean;
}

/** Makes and removes the directories of volumes that are plain directories. */
export interface VolumeDirectoryMaker {
  /**
   * Makes the directory with its owner and mode, and mounts it where it is in memory. Idempotent; what containers have
   * changed stays as it is.
   */
  ensure(directories: VolumeDirectories, plan: VolumeDirectoryPlan, signal?: AbortSignal): Promise<VolumeDirectory>;
  /** Unmounts what may be mounted over a volume's directory, and removes it with all that is in it. */
  remove(path: string): Promise<void>;
}

interface VolumeDirectoryMakerDeps {
  files: Files;
  mounts: Pick<Mounts, "mountMemory" | "mountHugepages" | "unmount">;
}

export function createVolumeDirectoryMaker({ files, mounts }: VolumeDirectoryMakerDeps): VolumeDirectoryMaker {
  const line: Limiter = createLimiter(PARALLEL_MOUNTS);

  const mount = async (path: string, memory: NonNullable<VolumeDirectoryPlan["memory"]>) => {
    const { sizeBytes, pageSizeBytes } = memory;
    if (pageSizeBytes === undefined) await mounts.mountMemory(path, sizeBytes);
    else await mounts.mountHugepages(path, { sizeBytes, pageSizeBytes });
  };

  const ensureNote = async (directories: VolumeDirectories, plan: VolumeDirectoryPlan, isNew: boolean) => {
    const note = directories.noteOf(plan.pluginName, plan.volumeName);
    if (!isNew && (await files.stat(`${note}/ready`)) !== undefined) return;
    for (const directory of [directories.notes, note]) await files.makeDirectory(directory, 0o750);
    await files.touch(`${note}/ready`, 0o644);
  };

  return {
    async ensure(directories, plan, signal) {
      const { memory, group } = plan;
      const path = directories.of(plan.pluginName, plan.volumeName);
      const isNew = (await files.stat(path)) === undefined;
      if (isNew) await files.makeDirectory(path, MODE);
      if (memory) await line.run(async () => await mount(path, memory), signal);
      // The mode tells whether the group was set, so that an interrupted set-up is finished and later changes stay.
      if (group !== undefined && (((await files.stat(path))?.mode ?? 0) & SET_GROUP_ID) === 0) {
        await files.setGroup(path, group, (memory ? MEMORY_MODE : MODE) | SET_GROUP_ID);
      }
      await ensureNote(directories, plan, isNew);
      return { path, isNew };
    },
    async remove(path) {
      await mounts.unmount(path, { isLocal: true });
      await files.remove(path);
    },
  };
}
