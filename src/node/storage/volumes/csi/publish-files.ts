import type { CsiDriver, CsiVolumeUse } from "../../../../csi/port.ts";
import { isFinalCsiError } from "../../../../csi/port.ts";
import { missingDriver, tearDownError } from "./csi-failure.ts";
import { VOLUME_DATA_FILE } from "./csi-paths.ts";
import type { CsiPluginDeps } from "./csi-ports.ts";
import type { CsiVolume } from "./csi-volume.ts";
import { DIRECTORY_MODE } from "./directory-mode.ts";
import type { PublishInputs } from "./publish-inputs.ts";
import { readVolumeData, type VolumeData, writeVolumeData } from "./volume-data.ts";

/** A request to publish a volume to a pod. */
export interface PublishRequest {
  readonly volume: CsiVolume;
  readonly driver: CsiDriver;
  readonly use: CsiVolumeUse;
  readonly publishContext: Readonly<Record<string, string>>;
  /** Undefined for inline volumes, and for drivers that do not stage. */
  readonly stagingPath: string | undefined;
  readonly inputs: PublishInputs;
  readonly signal: AbortSignal;
}

type Deps = Pick<CsiPluginDeps, "files" | "mounts">;

/** Whether the pod's part of the volume may exist on disk. It outlives the call. */
export interface OnDisk {
  isOnDisk: boolean;
}

/** The target path, which the driver makes, in the pod's directory of the volume. */
export function targetPathIn(directory: string): string {
  return `${directory}/mount`;
}

/** Asks the driver to publish the volume in the pod's directory. May be repeated. */
export async function publishFiles(
  deps: Deps,
  directory: string,
  request: PublishRequest & { readonly data: VolumeData; readonly trace: OnDisk },
): Promise<void> {
  const { files } = deps;
  const { trace } = request;
  const dataFile = `${directory}/${VOLUME_DATA_FILE}`;
  const isFirst = (await files.stat(dataFile)) === undefined;
  await makeParent(files, directory);
  await files.makeDirectory(directory, DIRECTORY_MODE);
  // Not set earlier: a tear-down finds the volume by its directory, and without one this use would never end.
  trace.isOnDisk = true;
  await writeVolumeData(files, directory, request.data);
  try {
    await callPublish(request, targetPathIn(directory));
  } catch (error) {
    // Only the first attempt is known to have left nothing. A refusal does not undo what an earlier attempt has left.
    if (isFirst && isFinalCsiError(error)) {
      await removePodVolume(deps, {
        path: directory,
        onEmpty() {
          trace.isOnDisk = false;
        },
      });
    }
    throw error;
  }
}

/** Calls NodePublishVolume. The driver makes what is at the target path. */
export async function callPublish(request: PublishRequest, targetPath: string): Promise<void> {
  const { volume, driver, use, publishContext, stagingPath, inputs, signal } = request;
  const { readOnly, handle: volumeId } = volume;
  await driver.node.publish(
    { volumeId, publishContext, stagingPath, targetPath, use, readOnly, ...inputs },
    { signal },
  );
}

/** The pod's directory of a volume that is to be removed. */
export interface PodVolumeDirectory {
  readonly path: string;
  /**
   * Called when only empty directories are left. It does not wait for their removal: a removal that fails may have had its
   * effect, and then nobody comes here again.
   */
  onEmpty(): void;
  /** Ends the wait for a driver that does not answer. Default: waits as long as the call may take. */
  readonly signal?: AbortSignal;
}

/** Reads the volume's data in the pod's directory. Without any, it removes the empty directories and gives undefined. */
export async function readPodVolume(deps: Deps, directory: PodVolumeDirectory): Promise<VolumeData | undefined> {
  const data = await readVolumeData(deps.files, directory.path);
  if (data === undefined) await removePodVolume(deps, directory);
  return data;
}

/** Asks the driver to unpublish the volume, and removes the pod's directory. */
export async function unpublishFiles(
  deps: Pick<CsiPluginDeps, "drivers" | "files" | "mounts">,
  directory: PodVolumeDirectory,
  { driverName, volumeHandle }: VolumeData,
): Promise<void> {
  const driver = deps.drivers.get(driverName);
  if (driver === undefined) throw missingDriver("Unmounter.TearDownAt failed to get CSI client", driverName);
  const targetPath = targetPathIn(directory.path);
  const { signal } = directory;
  await driver.node.unpublish({ volumeId: volumeHandle, targetPath }, signal && { signal });
  await removePodVolume(deps, directory);
}

/** Removes the empty directories and our own file. The data file goes after the target path that it describes. */
async function removePodVolume({ files, mounts }: Deps, { path, onEmpty }: PodVolumeDirectory): Promise<void> {
  const targetPath = targetPathIn(path);
  if (await mounts.isMountPoint(targetPath)) {
    throw tearDownError(`Unmounter.TearDownAt failed to clean mount dir [${targetPath}]: it is still mounted`);
  }
  await files.removeEmptyDirectory(targetPath);
  await files.remove(`${path}/${VOLUME_DATA_FILE}`);
  onEmpty();
  await files.removeEmptyDirectory(path);
}

/** Makes the pod's directory for this plugin, as kubelet does. */
async function makeParent(files: Deps["files"], directory: string): Promise<void> {
  const parent = directory.slice(0, directory.lastIndexOf("/"));
  if ((await files.stat(parent)) === undefined) await files.makeDirectory(parent, DIRECTORY_MODE);
}

/** The data file for the pod's directory of a volume. */
export function podVolumeData(
  volume: CsiVolume,
  node: { readonly nodeName: string; readonly attachmentName: string; readonly seLinuxLabel: string | undefined },
): VolumeData {
  return {
    specVolID: volume.specName,
    volumeHandle: volume.handle,
    driverName: volume.driverName,
    nodeName: node.nodeName,
    attachmentID: node.attachmentName,
    volumeLifecycleMode: volume.lifecycle,
    ...(node.seLinuxLabel !== undefined && { seLinuxMountContext: node.seLinuxLabel }),
  };
}
