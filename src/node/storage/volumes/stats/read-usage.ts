import { isAbort, untilAborted } from "../../../../base/abort.ts";
import { type Clock, SECOND } from "../../../../base/clock.ts";
import type { HangGuard } from "../../../../base/hang-guard.ts";
import type { HistogramSeries } from "../../../../base/metrics.ts";
import type { FileSystemUsage, Usage } from "../../../../host/port.ts";
import type { VolumeRequest } from "../volume-plugin.ts";
import { csiDriverOf, type NodeVolume } from "./node-volumes.ts";

/** How full a volume is, and whether it is well. What is not known is undefined. */
export interface VolumeUsage {
  readonly bytes: Usage | undefined;
  readonly inodes: Usage | undefined;
  /** What a storage driver says of its volume's health. */
  readonly condition: { readonly abnormal: boolean; readonly message: string } | undefined;
}

export interface UsageDeps {
  readonly clock: Pick<Clock, "monotonic">;
  /** Volumes of storage drivers; bounded in time. Undefined where there are none. */
  readonly csi:
    | {
        stats(volume: Pick<VolumeRequest, "pod" | "source">, signal: AbortSignal): Promise<VolumeUsage | undefined>;
      }
    | undefined;
  readonly machine: { fileSystemUsage(path: string): Promise<FileSystemUsage> };
  /** For file systems that do not answer; of these statistics alone, so that they are in nobody's way. */
  readonly guard: Pick<HangGuard, "run">;
  /** `kubelet_volume_metric_collection_duration_seconds`. */
  readonly durations: HistogramSeries<"metric_source">;
}

const ANSWER_TIMEOUT_MS = 10 * SECOND;

/**
 * Whether anybody can tell how full it is: volumes of claims, and those of storage drivers. Upstream reads local and NFS
 * volumes by statfs too; of host paths it says nothing, also where they are persistent volumes.
 */
export function isMeasurable({ source, ready }: NodeVolume): boolean {
  if (ready === undefined) return false;
  if (csiDriverOf(source) !== undefined) return true;
  return source.kind === "persistent" && ready.kind === "files";
}

/** Undefined where the volume's driver does not tell. Rejects in time, whatever hangs. */
export async function readUsage(
  deps: UsageDeps,
  volume: NodeVolume,
  signal: AbortSignal,
): Promise<VolumeUsage | undefined> {
  const { source, ready } = volume;
  const driver = csiDriverOf(source);
  if (driver !== undefined) return await measured(deps, driver, async () => await deps.csi?.stats(volume, signal));
  if (ready?.kind !== "files") return undefined;
  const path = ready.hostPath;
  // All volumes of one server hang together: they take one place.
  const server = source.kind === "persistent" ? source.persistentVolume.spec?.nfs?.server : undefined;
  const reading = deps.guard.run(server ?? path, ANSWER_TIMEOUT_MS, async () =>
    measured(deps, "statfs", async () => await deps.machine.fileSystemUsage(path)),
  );
  const usage = await untilAborted(reading, signal);
  return usage && { ...usage, condition: undefined };
}

/** Failures take their time too; what nobody was asked for takes none. */
async function measured<T>(
  { clock, durations }: UsageDeps,
  metricSource: string,
  read: () => Promise<T | undefined>,
): Promise<T | undefined> {
  const begun = clock.monotonic();
  const observe = () => durations.observe((clock.monotonic() - begun) / 1000, { metric_source: metricSource });
  try {
    const usage = await read();
    if (usage !== undefined) observe();
    return usage;
  } catch (error) {
    if (!isAbort(error)) observe();
    throw error;
  }
}
