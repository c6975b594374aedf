import type { CsiVolumeStats } from "../../../../csi/port.ts";
import type { CsiPluginDeps } from "./csi-ports.ts";
import type { CsiVolume } from "./csi-volume.ts";

/** How full a volume of a pod is, and whether it is healthy. A field that the driver does not report is undefined. */
export interface CsiVolumeReport {
  readonly bytes: CsiMeasure | undefined;
  readonly inodes: CsiMeasure | undefined;
  /** Known only where it was asked for, of drivers with VOLUME_CONDITION. */
  readonly condition: CsiVolumeStats["condition"];
}

type CsiMeasure = Omit<CsiVolumeStats["usage"][number], "unit">;

/** A pod's volume that can be measured. */
export interface MeasuredVolume {
  readonly volume: CsiVolume;
  readonly volumePath: string;
}

/** Asks the driver; undefined where it is not registered, or cannot tell. Rejects as the call does. */
export async function readVolumeStats(
  { drivers }: Pick<CsiPluginDeps, "drivers">,
  { volume, volumePath }: MeasuredVolume,
  { signal, tellsHealth }: { signal: AbortSignal; tellsHealth: boolean },
): Promise<CsiVolumeReport | undefined> {
  const driver = drivers.get(volume.driverName);
  if (driver?.capabilities.has("GET_VOLUME_STATS") !== true) return undefined;
  const options = { signal };
  const { usage, condition } = await driver.node.stats({ volumeId: volume.handle, volumePath }, options);
  const measureOf = (wanted: string) => {
    const found = usage.find(({ unit }) => unit === wanted);
    return found && { available: found.available, total: found.total, used: found.used };
  };
  return {
    bytes: measureOf("BYTES"),
    inodes: measureOf("INODES"),
    condition: tellsHealth && driver.capabilities.has("VOLUME_CONDITION") ? condition : undefined,
  };
}
