import type { CsiDrivers } from "../../../csi/port.ts";
import type { CsiPlugin } from "../volumes/csi/csi-plugin.ts";
import { VolumeOperationError } from "../volumes/volume-error.ts";
import type { VolumePlugin, VolumeSource } from "../volumes/volume-plugin.ts";
import { findExceededVolumeLimit, type LimitedVolume, VOLUME_LIMIT_REASON } from "./volume-limit.ts";

/** As upstream rejects a pod whose attachment fails for it (pkg/kubelet/volumemanager/volume_manager.go). */
const REJECTION_REASON = "VolumeAttachmentLimitExceeded";

type LimitedPlugin = VolumePlugin & Pick<CsiPlugin, "load" | "devices">;

/**
 * The plugin, within what each driver can serve on this node (`max_volumes_per_node`). The scheduler counts too, but not
 * for pods that name their node themselves, and not what changed since it looked. A pod over the limit is refused for
 * good and as a whole, before anything of it is attached, where upstream does so when an attachment has failed for it
 * (its admission knows no volumes of claims): another node may have room. What is on the node already counts,
 * whoever brought it, and is never refused.
 */
export function limitVolumes(plugin: LimitedPlugin, drivers: CsiDrivers): VolumePlugin {
  /** Let in, and perhaps not yet among the plugin's. */
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
      const volumes = requests.flatMap(({ source }) => limitedVolumeOf(source) ?? []);
      if (volumes.length === 0) return;
      await plugin.load();
      judge(volumes);
    },
    async setUp(request) {
      const volume = limitedVolumeOf(request.source);
      if (volume === undefined) return await plugin.setUp(request);
      await plugin.load();
      // Since the pod was admitted, others may have come.
      judge([volume]);
      coming.add(volume);
      try {
        return await plugin.setUp(request);
      } finally {
        // From here on the plugin knows of it, or it is not coming.
        coming.delete(volume);
      }
    },
  };
}

function limitedVolumeOf(source: VolumeSource): LimitedVolume | undefined {
  const csi = source.kind === "persistent" ? source.persistentVolume.spec?.csi : undefined;
  return csi && { driver: csi.driver, handle: csi.volumeHandle };
}
