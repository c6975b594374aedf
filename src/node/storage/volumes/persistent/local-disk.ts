import { isAbort } from "../../../../base/abort.ts";
import { MINUTE } from "../../../../base/clock.ts";
import { messageOf } from "../../../../base/errors.ts";
import type { Mounts } from "../../../../host/mounts-port.ts";
import type { Files } from "../../../../host/port.ts";
import { escapePluginName } from "../volume-directories.ts";
import { VolumeSetUpError } from "../volume-error.ts";
import { ensureDirectories } from "./ensure-directories.ts";

/** Local disks with a file system. Each is mounted once, at `plugins/PLUGIN/mounts/NAME`, for all pods that use it. */
interface LocalDisks {
  pathOf(name: string): string;
  /** Mounts the disk unless it is mounted already, and formats it first where it holds nothing. */
  ensureMounted(disk: LocalDisk, signal: AbortSignal): Promise<void>;
  /** Unmounts the disk unless another pod has a directory for the volume. For each volume, calls come one at a time. */
  unmountUnlessUsed(name: string, podUid: string): Promise<void>;
}

interface LocalDisk {
  readonly name: string;
  readonly device: string;
  /** Default ext4. */
  readonly fsType: string | undefined;
  readonly options: readonly string[];
}

interface LocalDisksDeps {
  readonly files: Pick<Files, "stat" | "list" | "makeDirectory" | "removeEmptyDirectory">;
  readonly mounts: Pick<Mounts, "isMountPoint" | "formatAndMount" | "unmount">;
}

/** The check of a large disk, and the format of a new one, take a while. */
const MOUNT_TIMEOUT_MS = 10 * MINUTE;

export function createLocalDisks(
  { files, mounts }: LocalDisksDeps,
  { rootDirectory, pluginName }: { rootDirectory: string; pluginName: string },
): LocalDisks {
  const pathOf = (name: string) => `${rootDirectory}/plugins/${pluginName}/mounts/${name}`;

  /** A pod counts from the moment that it is about to mount the volume until all of it is undone. */
  const isUsedByOther = async (name: string, podUid: string): Promise<boolean> => {
    const pods = `${rootDirectory}/pods`;
    if ((await files.stat(pods)) === undefined) return false;
    for (const pod of await files.list(pods)) {
      if (pod.type !== "directory" || pod.name === podUid) continue;
      const directory = `${pods}/${pod.name}/volumes/${escapePluginName(pluginName)}/${name}`;
      if ((await files.stat(directory)) !== undefined) return true;
    }
    return false;
  };

  return {
    pathOf,
    async ensureMounted({ name, device, fsType = "ext4", options }, signal) {
      const target = pathOf(name);
      if (await mounts.isMountPoint(target)) return;
      await ensureDirectories(files, rootDirectory, target);
      const request = { source: device, target, type: fsType, options, timeoutMs: MOUNT_TIMEOUT_MS };
      try {
        await mounts.formatAndMount(request, signal);
      } catch (error) {
        if (isAbort(error)) throw error;
        const what = `local: failed to mount device ${device} at ${target} (fstype: ${fsType})`;
        throw new VolumeSetUpError("failed", `${what}, error ${messageOf(error)}`, { cause: error });
      }
    },
    async unmountUnlessUsed(name, podUid) {
      const target = pathOf(name);
      if ((await files.stat(target)) === undefined || (await isUsedByOther(name, podUid))) return;
      await mounts.unmount(target);
      await files.removeEmptyDirectory(target);
    },
  };
}
