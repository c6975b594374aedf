import { formatTime } from "../../../../base/clock.ts";
import type { FileSystemUsage } from "../../../../host/port.ts";
import type { Remembered } from "../readings/remembered-values.ts";
import type {
  ImageFileSystem,
  PodStorage,
  StorageSnapshot,
  Taken,
  VolumeReading,
} from "../readings/storage-snapshot.ts";
import type { FsStats, SummaryVolume } from "./summary.ts";

/** Describes the space that something takes, together with the amounts of its file system. */
function describeTaken(at: number, used: Taken | undefined, fileSystem: FileSystemUsage | undefined): FsStats {
  return {
    time: formatTime(at),
    ...(fileSystem && {
      availableBytes: Number(fileSystem.bytes.available),
      capacityBytes: Number(fileSystem.bytes.total),
    }),
    ...(used && { usedBytes: used.bytes }),
    // A total of 0 inodes means that the file system makes inodes as it needs them. Clients would take a limit of 0 for
    // one that is reached.
    ...(fileSystem &&
      fileSystem.inodes.total > 0n && {
        inodesFree: Number(fileSystem.inodes.available),
        inodes: Number(fileSystem.inodes.total),
      }),
    ...(used?.inodes !== undefined && { inodesUsed: used.inodes }),
  };
}

/** Describes a file system as a whole. */
export function describeFileSystem({ value, at }: Remembered<FileSystemUsage>): FsStats {
  const used = {
    bytes: Number(value.bytes.used),
    inodes: value.inodes.total > 0n ? Number(value.inodes.used) : undefined,
  };
  return describeTaken(at, used, value);
}

/** Describes the space that images or layers take. */
export function describeImageFs({ at, used, fileSystem }: ImageFileSystem): FsStats {
  return describeTaken(at, used, fileSystem);
}

/** Describes a volume of a pod. */
export function describeVolume({ name, at, used, fileSystem, claim, abnormal }: VolumeReading): SummaryVolume {
  return {
    ...describeTaken(at, used, fileSystem),
    name,
    ...(claim && { pvcRef: { name: claim.name, namespace: claim.namespace } }),
    ...(abnormal !== undefined && { volumeHealthStats: { abnormal } }),
  };
}

/**
 * Describes a container's writable layer. When the runtime reports nothing, upstream gives the time 0, and this code
 * gives nothing.
 */
export function describeRootfs(
  id: string,
  { layers }: PodStorage,
  { containerFs }: StorageSnapshot,
): FsStats | undefined {
  const layer = layers.get(id);
  return layer && describeTaken(layer.at, layer.value, containerFs?.fileSystem);
}

/** Describes a container's logs, including those of its former instances. */
export function describeLogs(name: string, { files }: PodStorage, { nodeFs }: StorageSnapshot): FsStats | undefined {
  const logs = files?.value.containerLogs.get(name);
  return files && logs && describeTaken(files.at, logs, nodeFs?.value);
}

/**
 * Describes all space on the node's disk that counts as the pod's, as `calcEphemeralStorage` does
 * (pkg/kubelet/stats/helper.go).
 */
export function describeEphemeralStorage(
  containers: ReadonlyArray<{ readonly rootfs?: FsStats; readonly logs?: FsStats }>,
  { files, volumes }: PodStorage,
  { nodeFs }: StorageSnapshot,
): FsStats | undefined {
  if (nodeFs === undefined) return undefined;
  const own = volumes.filter(({ isEphemeral }) => isEphemeral);
  const parts: Array<Taken | undefined> = [
    ...containers.flatMap(({ rootfs, logs }) => [takenOf(rootfs), takenOf(logs)]),
    ...own.map(({ used }) => used),
    files?.value.podLogs,
    files?.value.hosts,
  ];
  const known = parts.filter((part) => part !== undefined);
  const sum = known.reduce(
    (total, part) => ({
      bytes: total.bytes + part.bytes,
      inodes: (total.inodes ?? 0) + (part.inodes ?? 0),
    }),
    { bytes: 0, inodes: 0 },
  );
  const at = Math.max(nodeFs.at, files?.at ?? 0, ...own.map((volume) => volume.at));
  return describeTaken(at, known.length === 0 ? undefined : sum, nodeFs.value);
}

function takenOf(stats: FsStats | undefined): Taken | undefined {
  return stats?.usedBytes === undefined ? undefined : { bytes: stats.usedBytes, inodes: stats.inodesUsed };
}
