import { createHash } from "node:crypto";
import { CSI_PLUGIN } from "../../../../api/csi-volumes.ts";
import { volumeDirectories } from "../volume-directories.ts";

/** The data file in a volume's directory. It tells a later node agent which driver was called for which volume. */
export const VOLUME_DATA_FILE = "vol_data.json";

/** Where a volume is on the node, shared by its pods (pkg/volume/csi/csi_attacher.go and csi_block.go). */
export type DevicePlace = FilesPlace | BlockPlace;

interface CommonPlace {
  /** Holds `vol_data.json`; no two devices have the same. */
  readonly dataDirectory: string;
  /** What the driver is told to stage to. */
  readonly stagingPath: string;
  /** Our own directories that are removed after the unstage if they are empty, in this order, before the data file. */
  readonly before: readonly string[];
  /** The directories that are removed in the same way after the data file. */
  readonly after: readonly string[];
}

/** Where a file system is staged. */
interface FilesPlace extends CommonPlace {
  readonly kind: "files";
}

/** A block volume has more directories beside its staging path. */
export interface BlockPlace extends CommonPlace {
  readonly kind: "block";
  readonly specName: string;
  /** Holds what the driver publishes: a file for each pod, named by the pod's UID. */
  readonly publishDirectory: string;
  /** Holds bind mounts of the same files, so that the device cannot be replaced unnoticed while a pod has it. */
  readonly mapDirectory: string;
}

/** kubelet's directories of CSI volumes. */
export interface CsiPaths {
  readonly pods: string;
  /** Holds a directory for each driver, and `blocks`. */
  readonly plugin: string;
  /** Holds the directories of all block volumes. */
  readonly blocks: string;
  device(driverName: string, volumeHandle: string): FilesPlace;
  /** The place of a device whose directory was found. */
  deviceIn(directory: string): FilesPlace;
  block(specName: string): BlockPlace;
  /** The pod's directory of a volume. It holds `mount`, which the driver makes, and the data file. */
  podVolume(podUid: string, specName: string): string;
  /** The pod's link to the published device. */
  podDevice(podUid: string, specName: string): string;
}

/** `rootDirectory`: kubelet's `--root-dir`. */
export function csiPaths(rootDirectory: string): CsiPaths {
  const plugin = `${rootDirectory}/plugins/${CSI_PLUGIN}`;
  const blocks = `${plugin}/volumeDevices`;
  const deviceIn = (directory: string): FilesPlace => {
    const stagingPath = `${directory}/globalmount`;
    return { kind: "files", dataDirectory: directory, stagingPath, before: [stagingPath], after: [directory] };
  };
  return {
    pods: `${rootDirectory}/pods`,
    plugin,
    blocks,
    deviceIn,
    device: (driverName, volumeHandle) => deviceIn(`${plugin}/${driverName}/${sha256(volumeHandle)}`),
    block(specName) {
      const own = `${blocks}/${specName}`;
      const stagingPath = `${blocks}/staging/${specName}`;
      const publishDirectory = `${blocks}/publish/${specName}`;
      const mapDirectory = `${own}/dev`;
      return {
        kind: "block",
        specName,
        dataDirectory: `${own}/data`,
        stagingPath,
        publishDirectory,
        mapDirectory,
        before: [publishDirectory, mapDirectory, stagingPath],
        after: [`${own}/data`, own],
      };
    },
    podVolume: (podUid, specName) => volumeDirectories(rootDirectory, podUid).of(CSI_PLUGIN, specName),
    podDevice: (podUid, specName) => volumeDirectories(rootDirectory, podUid).deviceOf(CSI_PLUGIN, specName),
  };
}

/** The handle by which the driver knows an inline volume; upstream's `makeVolumeHandle`. */
export function inlineVolumeHandle(podUid: string, volumeName: string): string {
  return `csi-${sha256(`${podUid}${volumeName}`)}`;
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
