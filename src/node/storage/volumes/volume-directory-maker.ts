import { createLimiter, type Limiter } from "../../../base/limiter.ts";
import type { Mounts } from "../../../host/mounts-port.ts";
import type { Files } from "../../../host/port.ts";
import type { VolumeDirectories } from "./volume-directories.ts";

/** World-writable, as kubelet makes it: containers of any user share it. A file system in memory adds the sticky bit. */
const MODE = 0o777;
const MEMORY_MODE = 0o1777;
/** With `fsGroup`: what is made in the volume belongs to that group. */
const SET_GROUP_ID = 0o2000;
/** Where a mount is a process, a burst of pods must not become a burst of those. The rest wait in line. */
const PARALLEL_MOUNTS = 8;

export interface VolumeDirectoryPlan {
  pluginName: string;
  volumeName: string;
  /** Undefined: on the disk. With a page size, of huge pages. */
  memory: { sizeBytes: bigint | undefined; pageSizeBytes?: bigint } | undefined;
  group: number | undefined;
}

/** Makes the directories that volumes are. */
export interface VolumeDirectoryMaker {
  /**
   * The directory is there, with its owner and mode, mounted where it is in memory; gives its path. Idempotent; what
   * containers changed meanwhile stays.
   */
  ensure(directories: VolumeDirectories, plan: VolumeDirectoryPlan, signal?: AbortSignal): Promise<string>;
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

  const ensureNote = async (directories: VolumeDirectories, { pluginName, volumeName }: VolumeDirectoryPlan) => {
    const note = directories.noteOf(pluginName, volumeName);
    if ((await files.stat(`${note}/ready`)) !== undefined) return;
    for (const directory of [directories.notes, note]) await files.makeDirectory(directory, 0o750);
    await files.touch(`${note}/ready`, 0o644);
  };

  return {
    async ensure(directories, plan, signal) {
      const { memory, group } = plan;
      const path = directories.of(plan.pluginName, plan.volumeName);
      if ((await files.stat(path)) === undefined) await files.makeDirectory(path, MODE);
      if (memory) await line.run(async () => await mount(path, memory), signal);
      // Asked of the mode, so that a set-up that was cut short is finished, and what containers changed later stays.
      if (group !== undefined && (((await files.stat(path))?.mode ?? 0) & SET_GROUP_ID) === 0) {
        await files.setGroup(path, group, (memory ? MEMORY_MODE : MODE) | SET_GROUP_ID);
      }
      await ensureNote(directories, plan);
      return path;
    },
    async remove(path) {
      await mounts.unmount(path, { isLocal: true });
      await files.remove(path);
    },
  };
}
