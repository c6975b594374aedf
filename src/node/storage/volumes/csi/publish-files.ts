import type { CsiDriver, CsiVolumeUse } from "../../../../csi/port.ts";
import { isFinalCsiError } from "../../../../csi/port.ts";
import { missingDriver, tearDownError } from "./csi-failure.ts";
import { VOLUME_DATA_FILE } from "./csi-paths.ts";
import type { CsiPluginDeps } from "./csi-ports.ts";
import type { CsiVolume } from "./csi-volume.ts";
import { DIRECTORY_MODE } from "./directory-mode.ts";
import type { PublishInputs } from "./publish-inputs.ts";
import { readVolumeData, type VolumeData, writeVolumeData } from "./volume-data.ts";

/** What a driver is asked to show to a pod. */
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

/** What outlives a call: whether the pod's part of the volume may be there. */
export interface OnDisk {
  isOnDisk: boolean;
}

/** The driver's part of `directory`, which is the pod's directory of the volume. */
export function targetPathIn(directory: string): string {
  return `${directory}/mount`;
}

/** Asks the driver to show the volume in the pod's directory. May be repeated. */
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
  // Not before: without the directory, nobody would ever tear it down.
  trace.isOnDisk = true;
  await writeVolumeData(files, directory, request.data);
  try {
    await callPublish(request, targetPathIn(directory));
  } catch (error) {
    // Only the first attempt can be known to have left nothing: what an earlier one left, this refusal does not undo.
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

/** NodePublishVolume. What is at the target path, the driver makes. */
export async function callPublish(request: PublishRequest, targetPath: string): Promise<void> {
  const { volume, driver, use, publishContext, stagingPath, inputs, signal } = request;
  const { readOnly, handle: volumeId } = volume;
  await driver.node.publish(
    { volumeId, publishContext, stagingPath, targetPath, use, readOnly, ...inputs },
    { signal },
  );
}

/** The pod's directory of a volume, to be removed. */
export interface PodVolumeDirectory {
  readonly path: string;
  /**
   * Only empty directories are left of it. Not when they are gone: a removal that fails may have had its effect, and then
   * nobody comes here again.
   */
  onEmpty(): void;
  /** Ends the wait for a driver that does not answer. */
  readonly signal?: AbortSignal;
}

/** What the pod's directory says of the volume. Undefined: there was nothing but empty directories, and they are gone. */
export async function readPodVolume(deps: Deps, directory: PodVolumeDirectory): Promise<VolumeData | undefined> {
  const data = await readVolumeData(deps.files, directory.path);
  if (data === undefined) await removePodVolume(deps, directory);
  return data;
}

/** Asks the driver to take the volume out of the pod's directory, and removes that. */
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

/** Empty directories and our own file, the data last of what it speaks of. */
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

/** The pod's directory of this plugin, as kubelet makes it. */
async function makeParent(files: Deps["files"], directory: string): Promise<void> {
  const parent = directory.slice(0, directory.lastIndexOf("/"));
  if ((await files.stat(parent)) === undefined) await files.makeDirectory(parent, DIRECTORY_MODE);
}

/** What the pod's directory says of its volume from now on. */
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
