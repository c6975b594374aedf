import type { CsiDrivers } from "../../../csi/port.ts";
import type { CsiPlugin } from "../volumes/csi/csi-plugin.ts";
import { attachableReference } from "../volumes/csi/csi-volume.ts";
import { VolumeOperationError } from "../volumes/volume-error.ts";
import type { VolumePlugin, VolumeRequest } from "../volumes/volume-plugin.ts";
import { findExceededVolumeLimit, type LimitedVolume, VOLUME_LIMIT_REASON } from "./volume-limit.ts";

/**
 * Upstream rejects a pod with this reason when its attachment fails for the limit
 * (pkg/kubelet/volumemanager/volume_manager.go).
 */
const REJECTION_REASON = "VolumeAttachmentLimitExceeded";

type LimitedPlugin = VolumePlugin & Pick<CsiPlugin, "load" | "devices">;

/**
 * Wraps the plugin so that it keeps within what each driver can serve on this node (`max_volumes_per_node`). The
 * scheduler counts too, but not for pods that name their node themselves, and it misses what changed since it looked. A
 * pod over the limit is refused for good and as a whole, before anything of it is attached, because another node may
 * have room. Upstream refuses it only when an attachment has failed for the limit, since its admission knows no volumes
 * of claims. A volume that is already on the node counts, whichever program brought it, and is never refused.
 */
export function limitVolumes(plugin: LimitedPlugin, drivers: CsiDrivers): VolumePlugin {
  /** Volumes that were let in and that the plugin may not know of yet. */
  const coming = new Set<LimitedVolume>();

  const judge = (podVolumes: readonly LimitedVolume[]): void => {
    const present = plugin.devices().map(({ driverName: driver, handle }) => ({ driver, handle }));
    const inUse = [...present, ...coming];
    const limits = new Map(
      podVolumes.flatMap(({ driver }) => {
        const limit = drivers.get(driver)?.nodeInfo.maxVolumes;
        return limit === undefined ? [] : [[driver, Number(limit)] as const];
      }),
    );
    const exceeded = findExceededVolumeLimit({ podVolumes, inUse, limits });
    if (exceeded === undefined) return;
    const message = `${VOLUME_LIMIT_REASON}: CSI driver ${exceeded.driver} serves ${exceeded.limit} volumes here`;
    throw new VolumeOperationError(message, { rejectionReason: REJECTION_REASON });
  };

  return {
    ...plugin,
    async admit(requests) {
      const volumes = requests.flatMap((request) => limitedVolumeOf(request) ?? []);
      if (volumes.length === 0) return;
      await plugin.load();
      judge(volumes);
    },
    async setUp(request) {
      const volume = limitedVolumeOf(request);
      if (volume === undefined) return await plugin.setUp(request);
      await plugin.load();
      // Other volumes may have come since the pod was admitted.
      judge([volume]);
      coming.add(volume);
      try {
        return await plugin.setUp(request);
      } finally {
        // From here on the plugin knows the volume, or the volume is not coming.
        coming.delete(volume);
      }
    },
  };
}

function limitedVolumeOf(request: VolumeRequest): LimitedVolume | undefined {
  try {
    const volume = attachableReference(request);
    return volume && { driver: volume.driver, handle: volume.volumeHandle };
  } catch {
    // Its set-up tells what is wrong with it.
    return undefined;
  }
}
