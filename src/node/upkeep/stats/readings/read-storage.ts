import type { PodReference } from "../../../../api/pods.ts";
import { untilAborted } from "../../../../base/abort.ts";
import { type Clock, SECOND } from "../../../../base/clock.ts";
import type { HangGuard } from "../../../../base/hang-guard.ts";
import { createLimiter } from "../../../../base/limiter.ts";
import type { Log } from "../../../../base/log.ts";
import type { FilesystemUsage } from "../../../../cri/gen/cri-v1.ts";
import type { ImageService, RuntimeService } from "../../../../cri/port.ts";
import type { FileSystemUsage, Files, Machine } from "../../../../host/port.ts";
import { podStoragePaths } from "../../../runtime/config/system-mounts.ts";
import { podLogDirectory } from "../../../runtime/logs/container-log-paths.ts";
import type { NodeVolumes } from "../../../storage/volumes/stats/node-volumes.ts";
import type { VolumeReport } from "../../../storage/volumes/stats/volume-stats.ts";
import { measurePodFiles } from "./measure-files.ts";
import { createRememberedValues, type Remembered } from "./remembered-values.ts";
import type { ImageFileSystem, PodFilesUsage, PodStorage, StorageSnapshot, Taken } from "./storage-snapshot.ts";
import { createVolumeMeter, type VolumeMeter } from "./volume-meter.ts";

/**
 * Reads how full the disks are and how much of them the pods take. `RememberedValues` says how old the values may be
 * and how long a caller waits at most.
 */
export interface StorageUsageReader {
  read(pods: readonly PodReference[]): Promise<StorageSnapshot>;
  /** Measurements continue until the signal fires. */
  run(signal: AbortSignal): Promise<void>;
}

interface StorageReaderDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly files: Pick<Files, "diskUsage" | "list">;
  readonly machine: Pick<Machine, "fileSystemUsage">;
  /** Guards against disks that do not answer. Only these statistics use this guard. */
  readonly guard: Pick<HangGuard, "run">;
  readonly runtime: Pick<RuntimeService, "listContainerStats">;
  readonly images: Pick<ImageService, "imageFsInfo">;
  readonly volumes: Pick<NodeVolumes, "ofPod">;
  /** Reports about the volumes that other code measures from time to time anyway. */
  volumeReports(): Iterable<{ readonly pod: PodReference; readonly volumes: readonly VolumeReport[] }>;
}

/** `volumePeriodMs` is `volumeStatsAggPeriod`; 0 or less means that no volumes are measured. */
interface StorageReaderOptions {
  readonly rootDirectory: string;
  readonly podLogsDirectory: string;
  readonly volumePeriodMs: number;
}

/** containerd looks at its layers this often, and so does upstream's housekeeping. */
const MAX_AGE_MS = 10 * SECOND;
const ANSWER_TIMEOUT_MS = 10 * SECOND;
const WALK_TIMEOUT_MS = 3_600 * SECOND;
const RUNTIME_TIMEOUT_MS = 30 * SECOND;
/** The maximum number of measurements that run at the same time, on disks and by the runtime together. */
const MAX_AT_ONCE = 8;

type Layers = ReadonlyMap<string, Remembered<Taken>>;
/** One of the runtime's file systems. */
type RuntimeFs = Pick<ImageFileSystem, "at" | "mountpoint" | "used">;

export function createStorageUsageReader(deps: StorageReaderDeps, options: StorageReaderOptions): StorageUsageReader {
  const { files, machine, guard, runtime, images } = deps;
  const limiter = createLimiter(MAX_AT_ONCE);
  const remember = <T>() => createRememberedValues<T>({ ...deps, limiter });
  const fileSystems = remember<FileSystemUsage>();
  const podFiles = remember<PodFilesUsage>();
  const layers = remember<Layers>();
  const runtimeDisks = remember<{ images: RuntimeFs | undefined; containers: RuntimeFs | undefined }>();
  const meter = createVolumeMeter({ ...deps, limiter }, options);

  const readFileSystem = async (path: string) => {
    const find = async (inner: AbortSignal) => {
      const answer = guard.run(path, ANSWER_TIMEOUT_MS, async () => await machine.fileSystemUsage(path));
      return await untilAborted(answer, inner);
    };
    return await fileSystems.read(path, { maxAgeMs: MAX_AGE_MS, find });
  };
  const readPodFiles = async (pod: PodReference) => {
    const logDirectory = podLogDirectory(options.podLogsDirectory, pod);
    const paths = { logDirectory, hosts: podStoragePaths(options.rootDirectory, pod.uid).hosts };
    const find = async (inner: AbortSignal) => {
      const walk = guard.run(logDirectory, WALK_TIMEOUT_MS, async () => await measurePodFiles(files, paths, inner));
      return await untilAborted(walk, inner);
    };
    return await podFiles.read(pod.uid, { maxAgeMs: MAX_AGE_MS, find });
  };
  const readLayers = async (): Promise<Layers> => {
    const find = async (inner: AbortSignal) => {
      const call = { signal: inner, timeoutMs: RUNTIME_TIMEOUT_MS };
      const { stats } = await runtime.listContainerStats({ filter: undefined }, call);
      return new Map(
        stats.flatMap(({ attributes, writableLayer }) =>
          // containerd reports 0 bytes with timestamp 0 for a layer that it has not looked at yet.
          writableLayer && writableLayer.timestamp > 0n
            ? [[attributes?.id ?? "", takenOf(writableLayer)] as const]
            : [],
        ),
      );
    };
    return (await layers.read("layers", { maxAgeMs: MAX_AGE_MS, find }))?.value ?? new Map();
  };
  const readRuntimeDisks = async () => {
    const find = async (inner: AbortSignal) => {
      const info = await images.imageFsInfo({}, { signal: inner, timeoutMs: RUNTIME_TIMEOUT_MS });
      return { images: describeDisk(info.imageFilesystems[0]), containers: describeDisk(info.containerFilesystems[0]) };
    };
    const known = (await runtimeDisks.read("images", { maxAgeMs: MAX_AGE_MS, find }))?.value;
    const withFs = async (disk: RuntimeFs | undefined): Promise<ImageFileSystem | undefined> =>
      disk && { ...disk, fileSystem: (await readFileSystem(disk.mountpoint))?.value };
    const imageFs = await withFs(known?.images);
    const isApart = known?.containers !== undefined && known.containers.mountpoint !== known.images?.mountpoint;
    return { imageFs, containerFs: isApart ? await withFs(known.containers) : imageFs };
  };

  return {
    async read(pods) {
      const reports = new Map([...deps.volumeReports()].map(({ pod, volumes }) => [pod.uid, volumes]));
      const nodeFs = readFileSystem(options.rootDirectory);
      const [node, disks, known, each] = await Promise.all([
        nodeFs,
        readRuntimeDisks(),
        readLayers(),
        Promise.all(pods.map(async (pod) => await readPodStorage({ readPodFiles, meter, reports, nodeFs }, pod))),
      ]);
      const storages = each.map(({ uid, ...storage }): [string, PodStorage] => [uid, { ...storage, layers: known }]);
      return { nodeFs: node, ...disks, pods: new Map(storages) };
    },
    async run(signal) {
      await Promise.all([fileSystems, podFiles, layers, runtimeDisks, meter].map(async ({ run }) => await run(signal)));
    },
  };
}

interface PodStorageDeps {
  readPodFiles(pod: PodReference): Promise<Remembered<PodFilesUsage> | undefined>;
  readonly meter: VolumeMeter;
  readonly reports: ReadonlyMap<string, readonly VolumeReport[]>;
  readonly nodeFs: Promise<Remembered<FileSystemUsage> | undefined>;
}

async function readPodStorage({ readPodFiles, meter, reports, nodeFs }: PodStorageDeps, pod: PodReference) {
  const [files, volumes] = await Promise.all([
    readPodFiles(pod),
    meter.read(pod.uid, { reports: reports.get(pod.uid) ?? [], nodeFs: (await nodeFs)?.value }),
  ]);
  return { uid: pod.uid, files, volumes };
}

function describeDisk(disk: FilesystemUsage | undefined): RuntimeFs | undefined {
  if (disk === undefined) return undefined;
  const { value, at } = takenOf(disk);
  return { at, mountpoint: disk.fsId?.mountpoint ?? "", used: value };
}

function takenOf({ timestamp, usedBytes, inodesUsed }: FilesystemUsage): Remembered<Taken> {
  const value = { bytes: Number(usedBytes?.value ?? 0n), inodes: inodesUsed && Number(inodesUsed.value) };
  return { value, at: Number(timestamp / 1_000_000n) };
}
