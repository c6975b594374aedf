import type { Volume } from "../../../../api/gen/types.ts";
import { untilAborted } from "../../../../base/abort.ts";
import { type Clock, SECOND } from "../../../../base/clock.ts";
import type { HangGuard } from "../../../../base/hang-guard.ts";
import type { Limiter } from "../../../../base/limiter.ts";
import type { Log } from "../../../../base/log.ts";
import type { FileSystemUsage, Files, Machine } from "../../../../host/port.ts";
import type { NodeVolume, NodeVolumes } from "../../../storage/volumes/stats/node-volumes.ts";
import type { VolumeReport } from "../../../storage/volumes/stats/volume-stats.ts";
import { measureTree } from "./measure-files.ts";
import { createRememberedValues, type Remembered } from "./remembered-values.ts";
import type { Taken, VolumeReading } from "./storage-snapshot.ts";

/** Measures the volumes that belong to pods themselves, and adds the volumes that other code already measures. */
export interface VolumeMeter {
  read(podUid: string, known: KnownVolumes): Promise<VolumeReading[]>;
  run(signal: AbortSignal): Promise<void>;
}

/** The facts that the meter does not need to measure. */
interface KnownVolumes {
  /** Reports about the volumes of the pod's claims. */
  readonly reports: readonly VolumeReport[];
  /** The file system that holds all volumes without a file system of their own. */
  readonly nodeFs: FileSystemUsage | undefined;
}

interface VolumeMeterDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly limiter: Limiter;
  readonly files: Pick<Files, "diskUsage" | "list">;
  readonly machine: Pick<Machine, "fileSystemUsage">;
  readonly guard: Pick<HangGuard, "run">;
  readonly volumes: Pick<NodeVolumes, "ofPod">;
}

/** The measurement of one volume. */
interface Reading {
  readonly used: Taken | undefined;
  /** The volume's own file system. Undefined means that the volume is on the node's file system. */
  readonly ownFs: FileSystemUsage | undefined;
}

/** The limit is long because a container may have filled its volume with millions of files. */
const WALK_TIMEOUT_MS = 3_600 * SECOND;

/** The meter measures all volumes of one pod in one task, one volume after another. */
export function createVolumeMeter(deps: VolumeMeterDeps, { volumePeriodMs }: { volumePeriodMs: number }): VolumeMeter {
  const { files, machine, guard, volumes } = deps;
  const readings = createRememberedValues<ReadonlyMap<string, Reading>>(deps);

  const measure = async (path: string, volume: Volume, signal: AbortSignal): Promise<Reading> => {
    const used = await measureTree(files, path, signal);
    return { used, ownFs: isInMemory(volume) ? await machine.fileSystemUsage(path) : undefined };
  };
  const readOwn = async (podUid: string): Promise<Remembered<ReadonlyMap<string, Reading>> | undefined> => {
    const own = [...volumes.ofPod(podUid)].flatMap(findOwn);
    if (volumePeriodMs <= 0 || own.length === 0) return undefined;
    const find = async (inner: AbortSignal) => {
      const found = new Map<string, Reading>();
      for (const { name, path, volume } of own) {
        const walk = guard.run(path, WALK_TIMEOUT_MS, async () => await measure(path, volume, inner));
        found.set(name, await untilAborted(walk, inner));
      }
      return found;
    };
    // The key changes when a volume comes or goes, so the earlier measurement is not reused.
    const key = [podUid, ...own.map(({ name }) => name).sort()].join("/");
    return await readings.read(key, { maxAgeMs: volumePeriodMs, find });
  };

  return {
    async read(podUid, { reports, nodeFs }) {
      const own = await readOwn(podUid);
      const present = [...volumes.ofPod(podUid)].flatMap(findOwn);
      const measured = present.flatMap(({ name, volume }): VolumeReading[] => {
        const reading = own?.value.get(name);
        if (own === undefined || reading === undefined) return [];
        const { used, ownFs = nodeFs } = reading;
        const isEphemeral = isLocalEphemeral(volume);
        return [{ name, at: own.at, used, fileSystem: ownFs, claim: undefined, abnormal: undefined, isEphemeral }];
      });
      return [...measured, ...reports.map(describeReport)];
    },
    run: readings.run,
  };
}

function describeReport({ volumeName, measuredAt, claim, bytes, inodes, condition }: VolumeReport): VolumeReading {
  const none = { total: 0n, available: 0n, used: 0n };
  return {
    name: volumeName,
    at: measuredAt,
    used: bytes && { bytes: Number(bytes.used), inodes: inodes && Number(inodes.used) },
    fileSystem: bytes && { bytes, inodes: inodes ?? none },
    claim,
    abnormal: condition?.abnormal,
    isEphemeral: false,
  };
}

/**
 * Returns the volumes that the node made empty or filled from the API's objects. Upstream reports no sizes of other
 * kinds here either.
 */
function findOwn({ volumeName, source, ready }: NodeVolume): Array<{ name: string; path: string; volume: Volume }> {
  if (source.kind !== "pod" || ready?.kind !== "files") return [];
  const { volume } = source;
  const isOwn = volume.emptyDir || volume.configMap || volume.secret || volume.projected || volume.downwardAPI;
  return isOwn ? [{ name: volumeName, path: ready.hostPath, volume }] : [];
}

/** Tells whether the volume lives in memory and so is a file system of its own. */
function isInMemory({ emptyDir, secret, projected, downwardAPI }: Volume): boolean {
  if (emptyDir !== undefined) return (emptyDir.medium ?? "") !== "";
  return secret !== undefined || projected !== undefined || downwardAPI !== undefined;
}

/** Follows upstream's `IsLocalEphemeralVolume`, pkg/volume/util/util.go. */
function isLocalEphemeral({ emptyDir, configMap }: Volume): boolean {
  return configMap !== undefined || (emptyDir !== undefined && (emptyDir.medium ?? "") === "");
}
