import type { PersistentVolume } from "../../../../api/gen/types.ts";
import { codeOf } from "../../../../base/errors.ts";
import type { Mounts } from "../../../../host/mounts-port.ts";
import type { Files } from "../../../../host/port.ts";
import { escapePluginName, type VolumeDirectories } from "../volume-directories.ts";
import { VolumeOperationError } from "../volume-error.ts";
import type { VolumePlace } from "../volume-plugin.ts";
import { ensureDirectories } from "./ensure-directories.ts";
import { inUseError, isForOnePod } from "./volume-users.ts";

/**
 * Disks that pods use as devices, as upstream maps them (pkg/volume/util/volumepathhandler):
 *
 *     pods/UID/volumeDevices/PLUGIN/NAME -> /dev/sdb       what the runtime is told
 *     plugins/PLUGIN/volumeDevices/NAME/UID                the device, bound over a file: who uses it
 */
interface LocalDevices {
  /** Maps the disk for the pod, and returns the path of the pod's link. */
  map(directories: VolumeDirectories, device: LocalDevice): Promise<string>;
  unmap(place: VolumePlace): Promise<void>;
}

/** A disk that is a volume of mode Block; `path` leads to the device or to a link to it. */
interface LocalDevice {
  readonly name: string;
  readonly path: string;
  readonly source: { readonly persistentVolume: PersistentVolume };
}

interface LocalDevicesDeps {
  readonly files: Pick<Files, "stat" | "list" | "makeDirectory" | "touch" | "link" | "remove" | "removeEmptyDirectory">;
  readonly mounts: Pick<Mounts, "isMountPoint" | "bind" | "unmount">;
}

export function createLocalDevices(
  { files, mounts }: LocalDevicesDeps,
  { rootDirectory, pluginName }: { rootDirectory: string; pluginName: string },
): LocalDevices {
  const mapsOf = (name: string) => `${rootDirectory}/plugins/${escapePluginName(pluginName)}/volumeDevices/${name}`;

  const refuseUnfit = async ({ name, path }: LocalDevice) => {
    const found = await files.stat(path);
    if (found?.type === "block-device") return;
    const problem = found ? `path "${path}" is not a block device` : `path "${path}" does not exist`;
    const message = `MapVolume.MapBlockVolume failed for volume "${name}" : ${problem}`;
    throw new VolumeOperationError(message, { reason: "FailedMapVolume" });
  };

  const refuseSecondPod = async ({ name, source }: LocalDevice, podUid: string) => {
    const maps = mapsOf(name);
    if (!isForOnePod(source.persistentVolume.spec?.accessModes) || (await files.stat(maps)) === undefined) return;
    const others = (await files.list(maps)).filter((entry) => entry.name !== podUid);
    for (const other of others) {
      if (await mounts.isMountPoint(`${maps}/${other.name}`)) throw inUseError(name, "MapVolume.SetUpDevice");
    }
  };

  return {
    async map(directories, device) {
      const { name, path } = device;
      const link = directories.deviceOf(pluginName, name);
      const map = `${mapsOf(name)}/${directories.podUid}`;
      await refuseUnfit(device);
      const isMapped = await mounts.isMountPoint(map);
      if (!isMapped) await refuseSecondPod(device, directories.podUid);
      // A tear-down finds the volume by the link, so the link is made first and removed last.
      await ensureDirectories(files, rootDirectory, link.slice(0, link.lastIndexOf("/")));
      await files.link(path, link);
      if (!isMapped) {
        await ensureDirectories(files, rootDirectory, mapsOf(name));
        await files.touch(map, 0o640);
        await mounts.bind(path, map);
      }
      return link;
    },
    async unmap({ podUid, directoryName, path }) {
      const maps = mapsOf(directoryName);
      await mounts.unmount(`${maps}/${podUid}`);
      await files.remove(`${maps}/${podUid}`);
      await files.removeEmptyDirectory(maps).catch((error: unknown) => {
        // Other pods use it.
        if (codeOf(error) !== "ENOTEMPTY") throw error;
      });
      await files.remove(path);
    },
  };
}
