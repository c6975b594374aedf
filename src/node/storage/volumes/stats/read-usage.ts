import { isAbort, untilAborted } from "../../../../base/abort.ts";
import { type Clock, SECOND } from "../../../../base/clock.ts";
import type { HangGuard } from "../../../../base/hang-guard.ts";
import type { HistogramSeries } from "../../../../base/metrics.ts";
import type { FileSystemUsage, Usage } from "../../../../host/port.ts";
import type { VolumeRequest } from "../volume-plugin.ts";
import { csiDriverOf, type NodeVolume } from "./node-volumes.ts";

/** How full a volume is, and whether it is healthy. Unknown fields are undefined. */
export interface VolumeUsage {
  readonly bytes: Usage | undefined;
  readonly inodes: Usage | undefined;
  /** The volume's health, as its storage driver reports it. */
  readonly condition: { readonly abnormal: boolean; readonly message: string } | undefined;
}

export interface UsageDeps {
  readonly clock: Pick<Clock, "monotonic">;
  /** Measures volumes of storage drivers, in bounded time. Undefined where the node has no such drivers. */
  readonly csi:
    | {
        stats(volume: Pick<VolumeRequest, "pod" | "source">, signal: AbortSignal): Promise<VolumeUsage | undefined>;
      }
    | undefined;
  readonly machine: { fileSystemUsage(path: string): Promise<FileSystemUsage> };
  /** Guards against file systems that do not answer. It serves these statistics alone, so that they block nothing else. */
  readonly guard: Pick<HangGuard, "run">;
  /** `kubelet_volume_metric_collection_duration_seconds`. */
  readonly durations: HistogramSeries<"metric_source">;
}

const ANSWER_TIMEOUT_MS = 10 * SECOND;

/**
 * Whether the volume can be measured: volumes of claims and of storage drivers can. Upstream measures local and NFS volumes
 * by statfs too, and does not measure host paths, even where they are persistent volumes.
 */
export function isMeasurable({ source, ready }: NodeVolume): boolean {
  if (ready === undefined) return false;
  if (csiDriverOf(source) !== undefined) return true;
  return source.kind === "persistent" && ready.kind === "files";
}

/** Measures a volume; undefined where its driver cannot tell. Rejects in bounded time, whatever hangs. */
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
  // All volumes of a server that hangs would hang together, so they count as one for the guard.
  const server = source.kind === "persistent" ? source.persistentVolume.spec?.nfs?.server : undefined;
  const reading = deps.guard.run(server ?? path, ANSWER_TIMEOUT_MS, async () =>
    measured(deps, "statfs", async () => await deps.machine.fileSystemUsage(path)),
  );
  const usage = await untilAborted(reading, signal);
  return usage && { ...usage, condition: undefined };
}

/** Observes how long a measurement took, failed ones included; one that asked nobody is not observed. */
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
