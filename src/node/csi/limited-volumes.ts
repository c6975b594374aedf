import type { CsiDrivers } from "../../csi/port.ts";
import { VolumeOperationError } from "../volumes/volume-error.ts";
import type { VolumePlugin, VolumeSource } from "../volumes/volume-plugin.ts";
import { findExceededVolumeLimit, type LimitedVolume, VOLUME_LIMIT_REASON } from "./volume-limit.ts";

/**
 * The plugin, within what each driver can serve on this node (`max_volumes_per_node`). The scheduler counts too, but not
 * for pods that name their node themselves, and not what changed since it looked. A pod over the limit is refused for
 * good, as upstream does when an attachment fails for it: another node may have room.
 */
export function limitVolumes(plugin: VolumePlugin, drivers: CsiDrivers): VolumePlugin {
  /** By pod UID and volume name; a restart learns it anew from the pods that are set up again. */
  const held = new Map<string, Map<string, LimitedVolume>>();

  const hold = (podUid: string, volumeName: string, volume: LimitedVolume): void => {
    const ofPod = held.get(podUid) ?? new Map<string, LimitedVolume>();
    if (ofPod.has(volumeName)) return;
    const inUse = [...held.values()].flatMap((volumes) => [...volumes.values()]);
    const limit = drivers.get(volume.driver)?.nodeInfo.maxVolumes;
    const limits = new Map(limit === undefined ? [] : [[volume.driver, Number(limit)]]);
    const exceeded = findExceededVolumeLimit({ podVolumes: [volume], inUse, limits });
    if (exceeded !== undefined) {
      const message = `${VOLUME_LIMIT_REASON}: CSI driver ${exceeded.driver} serves ${exceeded.limit} volumes here`;
      throw new VolumeOperationError(message, { rejectionReason: "VolumeAttachmentLimitExceeded" });
    }
    held.set(podUid, ofPod.set(volumeName, volume));
  };

  return {
    ...plugin,
    async setUp(request) {
      const volume = limitedVolumeOf(request.source);
      if (volume !== undefined) hold(request.directories.podUid, request.volumeName, volume);
      return await plugin.setUp(request);
    },
    forget(podUid) {
      held.delete(podUid);
      plugin.forget?.(podUid);
    },
  };
}

function limitedVolumeOf(source: VolumeSource): LimitedVolume | undefined {
  const csi = source.kind === "persistent" ? source.persistentVolume.spec?.csi : undefined;
  return csi && { driver: csi.driver, handle: csi.volumeHandle };
}
