import { CodedError } from "../../../base/errors.ts";
import type { Cri } from "../../../cri/port.ts";
import type { FileSystemUsage } from "../../../host/port.ts";
import type { ImageDiskUsage } from "./garbage-plan.ts";

interface ImageDiskDeps {
  readonly images: Pick<Cri["images"], "imageFsInfo">;
  readonly machine: { fileSystemUsage(path: string): Promise<FileSystemUsage> };
}

/**
 * Why images could not be removed as they should have been, in upstream's words:
 * - `no-disk-information`: the runtime does not say on which disk it keeps images;
 * - `invalid-capacity`: that disk is said to have no room at all;
 * - `removal-failed`: some of the images could not be removed.
 */
export class ImageCollectionError extends CodedError<"no-disk-information" | "invalid-capacity" | "removal-failed"> {
  override readonly name = "ImageCollectionError";
}

/**
 * How full the disk is that the runtime keeps images on: the runtime says where that is, and the machine how full. As
 * upstream, the first that it names; one for containers alone is not looked at, because removing images frees nothing there.
 */
export async function readImageDisk({ images, machine }: ImageDiskDeps, signal: AbortSignal): Promise<ImageDiskUsage> {
  const { imageFilesystems } = await images.imageFsInfo({}, { signal });
  const mountpoint = imageFilesystems[0]?.fsId?.mountpoint;
  if (mountpoint === undefined || mountpoint === "")
    throw new ImageCollectionError("no-disk-information", "imagefs information is unavailable");
  const { bytes } = await machine.fileSystemUsage(mountpoint);
  return { capacity: bytes.total, available: bytes.available };
}
