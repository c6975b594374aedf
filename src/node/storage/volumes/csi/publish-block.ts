import { isFinalCsiError } from "../../../../csi/port.ts";
import { missingDriver, tearDownError } from "./csi-failure.ts";
import type { BlockPlace } from "./csi-paths.ts";
import type { CsiPluginDeps } from "./csi-ports.ts";
import { DIRECTORY_MODE } from "./directory-mode.ts";
import { callPublish, type OnDisk, type PublishRequest } from "./publish-files.ts";
import type { VolumeData } from "./volume-data.ts";

type Deps = Pick<CsiPluginDeps, "files" | "mounts">;

/** A pod's use of a block volume. */
interface BlockUse {
  readonly place: BlockPlace;
  readonly podUid: string;
  /** The pod's link to what the driver publishes. */
  readonly link: string;
}

/** The mode of the files that devices are bind-mounted on, as upstream. */
const MAP_MODE = 0o750;

/**
 * Asks the driver for the device, and links to it from the pod's directory. The link is made first: a tear-down starts from
 * the pod's directory and would miss a device without a link. May be repeated.
 */
export async function publishBlock(
  { files, mounts }: Deps,
  { place, podUid, link }: BlockUse,
  request: PublishRequest & { readonly trace: OnDisk },
): Promise<void> {
  const { trace } = request;
  const publishPath = `${place.publishDirectory}/${podUid}`;
  const isFirst = (await files.readLink(link)) === undefined;
  for (const directory of [place.publishDirectory, link.slice(0, link.lastIndexOf("/"))]) {
    if ((await files.stat(directory)) === undefined) await files.makeDirectory(directory, DIRECTORY_MODE);
  }
  await files.link(publishPath, link);
  trace.isOnDisk = true;
  try {
    await callPublish(request, publishPath);
  } catch (error) {
    if (isFirst && isFinalCsiError(error)) {
      await files.remove(link);
      trace.isOnDisk = false;
    }
    throw error;
  }
  const mapPath = `${place.mapDirectory}/${podUid}`;
  await files.makeDirectory(place.mapDirectory, DIRECTORY_MODE);
  if (await mounts.isMountPoint(mapPath)) return;
  await files.touch(mapPath, MAP_MODE);
  await mounts.bind(publishPath, mapPath);
}

/** Takes the device from the pod. The link is removed last, after `onUnpublished` was called. */
export async function unpublishBlock(
  deps: Pick<CsiPluginDeps, "drivers" | "files" | "mounts">,
  {
    place,
    podUid,
    link,
    onUnpublished,
    signal,
  }: BlockUse & {
    readonly onUnpublished: () => void;
    readonly signal?: AbortSignal;
  },
  { driverName, volumeHandle }: VolumeData,
): Promise<void> {
  const { files, mounts } = deps;
  const driver = deps.drivers.get(driverName);
  if (driver === undefined) throw missingDriver("blockMapper.UnmapPodDevice failed to get CSI client", driverName);
  const mapPath = `${place.mapDirectory}/${podUid}`;
  await mounts.unmount(mapPath);
  await files.remove(mapPath);
  const publishPath = `${place.publishDirectory}/${podUid}`;
  await driver.node.unpublish({ volumeId: volumeHandle, targetPath: publishPath }, signal && { signal });
  if (await mounts.isMountPoint(publishPath)) {
    throw tearDownError(`blockMapper.unpublishVolumeForBlock: the driver has left something mounted at ${publishPath}`);
  }
  onUnpublished();
  await files.remove(link);
}

/** Unpublishes the device from pods whose directories somebody else has removed. */
export async function unpublishLeftBehind(
  { files, mounts }: Deps,
  place: BlockPlace,
  unpublish: (targetPath: string) => Promise<void>,
): Promise<void> {
  for (const directory of [place.mapDirectory, place.publishDirectory]) {
    if ((await files.stat(directory)) === undefined) continue;
    for (const { name } of await files.list(directory)) {
      const path = `${directory}/${name}`;
      if (directory === place.publishDirectory) {
        await unpublish(path);
      } else {
        await mounts.unmount(path);
        await files.remove(path);
      }
    }
  }
}
