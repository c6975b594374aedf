import type { ObjectReference, Pod } from "../../../api/gen/types.ts";
import { isAbort } from "../../../base/abort.ts";
import { messageOf } from "../../../base/errors.ts";
import type { CsiVolumeStats } from "../../../csi/port.ts";
import type { CsiPluginDeps } from "./csi-ports.ts";
import type { CsiVolume } from "./csi-volume.ts";
import { CSI_TIMEOUT_MS } from "./driver-calls.ts";

/** How full a volume of a pod is, and whether it is well. What the driver does not tell is undefined. */
export interface CsiVolumeReport {
  /** As the pod names it. */
  readonly volumeName: string;
  readonly claim: Pick<ObjectReference, "namespace" | "name"> | undefined;
  readonly bytes: { readonly available: bigint; readonly total: bigint; readonly used: bigint } | undefined;
  readonly inodes: { readonly available: bigint; readonly total: bigint; readonly used: bigint } | undefined;
  /** For `kubelet_volume_stats_health_status_abnormal`: 1 for a volume that its driver calls abnormal, else 0. */
  readonly condition: CsiVolumeStats["condition"];
}

/** A volume that a pod has. */
export interface MeasuredVolume {
  readonly pod: Pod;
  readonly volumeName: string;
  readonly volume: CsiVolume;
  readonly volumePath: string;
}

/** Asks the drivers; of a volume whose driver does not answer there is no report. */
export async function readVolumeStats(
  deps: Pick<CsiPluginDeps, "drivers" | "log" | "onEvent">,
  volumes: readonly MeasuredVolume[],
  { signal, tellsHealth }: { signal: AbortSignal; tellsHealth: boolean },
): Promise<CsiVolumeReport[]> {
  const reports = await Promise.all(
    volumes.map(async (measured) => {
      const { pod, volumeName, volume, volumePath } = measured;
      const driver = deps.drivers.get(volume.driverName);
      if (driver?.capabilities.has("GET_VOLUME_STATS") !== true) return [];
      try {
        const options = { timeoutMs: CSI_TIMEOUT_MS, signal };
        const stats = await driver.node.stats({ volumeId: volume.handle, volumePath }, options);
        if (tellsHealth && stats.condition?.abnormal === true) {
          const message = `Volume ${volumeName}: ${stats.condition.message}`;
          deps.onEvent(pod, { type: "Warning", reason: "VolumeConditionAbnormal", message });
        }
        return [reportOf(measured, stats)];
      } catch (error) {
        if (isAbort(error)) throw error;
        deps.log.debug("a driver does not tell how full its volume is", {
          volume: volumeName,
          error: messageOf(error),
        });
        return [];
      }
    }),
  );
  return reports.flat();
}

function reportOf({ volumeName, volume }: MeasuredVolume, { usage, condition }: CsiVolumeStats): CsiVolumeReport {
  const { namespace, name } = volume.claimed?.claim.metadata ?? {};
  const measureOf = (wanted: string) => {
    const found = usage.find(({ unit }) => unit === wanted);
    return found && { available: found.available, total: found.total, used: found.used };
  };
  return {
    volumeName,
    claim: namespace === undefined || name === undefined ? undefined : { namespace, name },
    bytes: measureOf("BYTES"),
    inodes: measureOf("INODES"),
    condition,
  };
}
