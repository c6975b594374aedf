import type { CsiDrivers } from "../../csi/port.ts";
import type { CsiPlugin } from "../volumes/csi/csi-plugin.ts";
import { VolumeOperationError } from "../volumes/volume-error.ts";
import type { VolumePlugin, VolumeSource } from "../volumes/volume-plugin.ts";
import { findExceededVolumeLimit, type LimitedVolume, VOLUME_LIMIT_REASON } from "./volume-limit.ts";

type LimitedPlugin = VolumePlugin & Pick<CsiPlugin, "load" | "devices">;

/**
 * The plugin, within what each driver can serve on this node (`max_volumes_per_node`). The scheduler counts too, but not
 * for pods that name their node themselves, and not what changed since it looked. A pod over the limit is refused for
 * good, as upstream does when an attachment fails for it: another node may have room. What is on the node already counts,
 * whoever brought it, and is never refused.
 */
export function limitVolumes(plugin: LimitedPlugin, drivers: CsiDrivers): VolumePlugin {
  /** Let in, and perhaps not yet among the plugin's. */
  const coming = new Set<LimitedVolume>();

  const letIn = (volume: LimitedVolume): void => {
    const present = plugin.devices().map(({ driverName: driver, handle }) => ({ driver, handle }));
    const inUse = [...present, ...coming];
    const limit = drivers.get(volume.driver)?.nodeInfo.maxVolumes;
    const limits = new Map(limit === undefined ? [] : [[volume.driver, Number(limit)]]);
    const exceeded = findExceededVolumeLimit({ podVolumes: [volume], inUse, limits });
    if (exceeded !== undefined) {
      const message = `${VOLUME_LIMIT_REASON}: CSI driver ${exceeded.driver} serves ${exceeded.limit} volumes here`;
      throw new VolumeOperationError(message, { rejectionReason: "VolumeAttachmentLimitExceeded" });
    }
    coming.add(volume);
  };

  return {
    ...plugin,
    async setUp(request) {
      const volume = limitedVolumeOf(request.source);
      if (volume === undefined) return await plugin.setUp(request);
      await plugin.load();
      letIn(volume);
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
