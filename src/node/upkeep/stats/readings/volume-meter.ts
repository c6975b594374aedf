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

/** Measures the volumes of pods that are the pods' own, and puts them beside those that are measured anyway. */
export interface VolumeMeter {
  read(podUid: string, known: KnownVolumes): Promise<VolumeReading[]>;
  run(signal: AbortSignal): Promise<void>;
}

/** What need not be measured. */
interface KnownVolumes {
  /** Of the pod's claims. */
  readonly reports: readonly VolumeReport[];
  /** On which volumes are that are no file systems of their own. */
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

/** What was found of one volume. */
interface Reading {
  readonly used: Taken | undefined;
  /** Undefined: the node's. */
  readonly ownFs: FileSystemUsage | undefined;
}

/** A container may have filled its volume with millions of files. */
const WALK_TIMEOUT_MS = 3_600 * SECOND;

/** Each pod's are measured together, one after another. */
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
    // A volume that came or went makes it another question.
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

/** Those that the node made of nothing or of the API's objects; of others, upstream says nothing either. */
function findOwn({ volumeName, source, ready }: NodeVolume): Array<{ name: string; path: string; volume: Volume }> {
  if (source.kind !== "pod" || ready?.kind !== "files") return [];
  const { volume } = source;
  const isOwn = volume.emptyDir || volume.configMap || volume.secret || volume.projected || volume.downwardAPI;
  return isOwn ? [{ name: volumeName, path: ready.hostPath, volume }] : [];
}

/** It is a file system of its own. */
function isInMemory({ emptyDir, secret, projected, downwardAPI }: Volume): boolean {
  if (emptyDir !== undefined) return (emptyDir.medium ?? "") !== "";
  return secret !== undefined || projected !== undefined || downwardAPI !== undefined;
}

/** As upstream's `IsLocalEphemeralVolume`, pkg/volume/util/util.go. */
function isLocalEphemeral({ emptyDir, configMap }: Volume): boolean {
  return configMap !== undefined || (emptyDir !== undefined && (emptyDir.medium ?? "") === "");
}
