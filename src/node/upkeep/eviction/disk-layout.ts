import type { Log } from "../../../base/log.ts";
import type { EvictionSignal, EvictionThreshold } from "../../../config/eviction-thresholds.ts";
import type { ImageService } from "../../../cri/port.ts";
import type { Files } from "../../../host/port.ts";

/** The file systems on which the node keeps what pods need. */
export interface DiskLayout {
  /** Each path is a directory on its file system. File systems on one device have the same path. */
  readonly nodeFs: string;
  readonly imageFs: string;
  readonly containerFs: string;
  /** The runtime keeps images or containers on another disk than the one of the pods' directories. */
  readonly isDedicated: boolean;
  /** The containers' own layers are on another disk than the images. */
  readonly isSplit: boolean;
}

/** Finds out the layout of the disks once. */
export interface DiskLayoutReader {
  /**
   * Returns the layout. It asks the runtime until the layout is known, and then never again. Rejects while the runtime
   * or its disk cannot be asked, and while the disks are split but may not be.
   */
  read(signal: AbortSignal): Promise<DiskLayout>;
}

interface DiskLayoutDeps {
  readonly log: Log;
  readonly images: Pick<ImageService, "imageFsInfo">;
  readonly files: Pick<Files, "stat">;
}

interface DiskLayoutOptions {
  readonly rootDirectory: string;
  /** The gate `KubeletSeparateDiskGC`: images and containers may be on disks of their own. */
  readonly mayBeSplit: boolean;
}

const TIMEOUT_MS = 10_000;
/** Upstream's words (`synchronize` of pkg/kubelet/eviction/eviction_manager.go). */
const SPLIT_REFUSED = "KubeletSeparateDiskGC is turned off but we still have a split filesystem";

/** Follows upstream's `HasDedicatedImageFs` and `HasDedicatedContainerFs` (pkg/kubelet/stats/provider.go). */
export function createDiskLayoutReader(
  { log, images, files }: DiskLayoutDeps,
  { rootDirectory, mayBeSplit }: DiskLayoutOptions,
): DiskLayoutReader {
  let known: DiskLayout | undefined;
  let hasComplained = false;

  /** Says it once that images and containers are on disks of their own although they may not be. */
  const refuseSplit = (): never => {
    if (!hasComplained) log.error(`Eviction manager: ${SPLIT_REFUSED}`, { mend: "do not switch the feature gate off" });
    hasComplained = true;
    throw new Error(SPLIT_REFUSED);
  };

  const deviceOf = async (path: string): Promise<string> => {
    const status = await files.stat(path);
    if (status === undefined) throw new Error(`${path} is not there`);
    return status.device;
  };

  return {
    async read(signal) {
      if (known !== undefined) return known;
      const info = await images.imageFsInfo({}, { signal, timeoutMs: TIMEOUT_MS });
      const [imageFs, containerFs] = [info.imageFilesystems[0], info.containerFilesystems[0]];
      const imagePath = imageFs?.fsId?.mountpoint || containerFs?.fsId?.mountpoint;
      if (!imagePath) throw new Error("imagefs device is not found");
      const paths = [rootDirectory, imagePath, containerFs?.fsId?.mountpoint || imagePath];
      const devices = await Promise.all(paths.map(deviceOf));
      if (!mayBeSplit && devices[1] !== devices[2]) refuseSplit();
      const first = (index: number) => paths[devices.indexOf(devices[index] ?? "")] ?? rootDirectory;
      known = {
        nodeFs: rootDirectory,
        imageFs: first(1),
        containerFs: first(2),
        isDedicated: new Set(devices).size > 1,
        isSplit: devices[1] !== devices[2],
      };
      return known;
    },
  };
}

/**
 * Derives the thresholds of the containers' file system from those of the disk on which it is. Thresholds that the
 * configuration sets for `containerfs` are ignored (upstream: `UpdateContainerFsThresholds`,
 * pkg/kubelet/eviction/helpers.go).
 */
export function withContainerFs(
  thresholds: readonly EvictionThreshold[],
  { isDedicated, isSplit }: Pick<DiskLayout, "isDedicated" | "isSplit">,
): EvictionThreshold[] {
  const others = thresholds.filter(({ signal }) => !signal.startsWith("containerfs."));
  const copied: ReadonlyMap<EvictionSignal, EvictionSignal> = new Map(
    isDedicated && !isSplit
      ? [
          ["imagefs.available", "containerfs.available"],
          ["imagefs.inodesFree", "containerfs.inodesFree"],
        ]
      : [
          ["nodefs.available", "containerfs.available"],
          ["nodefs.inodesFree", "containerfs.inodesFree"],
        ],
  );
  const derived = others.flatMap((threshold) => {
    const signal = copied.get(threshold.signal);
    return signal === undefined ? [] : [{ ...threshold, signal }];
  });
  return [...others, ...derived];
}
