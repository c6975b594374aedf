/**
 * A volume of a CSI driver that the API server knows of. Volumes inline in a pod are not among them, because they count
 * towards no limit.
 */
export interface LimitedVolume {
  readonly driver: string;
  /** The handle of the persistent volume. A volume that several pods use counts once. */
  readonly handle: string;
}

/** The volumes of a pod, and the volumes that the node's drivers serve already. */
interface VolumeLimitQuestion {
  readonly podVolumes: readonly LimitedVolume[];
  /** Volumes of the node's other pods, and volumes that are attached to the node. */
  readonly inUse: readonly LimitedVolume[];
  /** The limits by driver; a driver that is not listed has none. */
  readonly limits: ReadonlyMap<string, number>;
}

/** This is the scheduler's reason (pkg/scheduler/framework/plugins/nodevolumelimits/csi.go). */
export const VOLUME_LIMIT_REASON = "node(s) exceed max volume count";

/**
 * Returns the first driver that would have to serve more volumes than it can, as the scheduler counts them. A pod that
 * brings a driver no new volume is never refused for that driver, whatever was there before.
 */
export function findExceededVolumeLimit({
  podVolumes,
  inUse,
  limits,
}: VolumeLimitQuestion): { readonly driver: string; readonly limit: number } | undefined {
  const used = groupHandles(inUse);
  for (const [driver, handles] of groupHandles(podVolumes)) {
    const limit = limits.get(driver);
    if (limit === undefined) continue;
    const usedHandles = used.get(driver) ?? new Set<string>();
    const added = [...handles].filter((handle) => !usedHandles.has(handle)).length;
    if (added > 0 && usedHandles.size + added > limit) return { driver, limit };
  }
  return undefined;
}

function groupHandles(volumes: readonly LimitedVolume[]): Map<string, Set<string>> {
  const byDriver = new Map<string, Set<string>>();
  for (const { driver, handle } of volumes) {
    const handles = byDriver.get(driver) ?? new Set();
    byDriver.set(driver, handles.add(handle));
  }
  return byDriver;
}
