import { isApiError } from "../../../../api/api-error.ts";
import { uniqueVolumeName } from "../../../../api/csi-volumes.ts";
import type { VolumeAttachment } from "../../../../api/gen/types.ts";
import { isAbort } from "../../../../base/abort.ts";
import { messageOf } from "../../../../base/errors.ts";
import { VolumeOperationError } from "../volume-error.ts";
import { AwaitedError } from "./csi-failure.ts";
import type { CsiObjects, CsiPluginOptions } from "./csi-ports.ts";
import type { CsiVolume } from "./csi-volume.ts";
import type { Device } from "./devices.ts";

/** The attachments of volumes, which a controller makes before a volume can be staged on the node. */
export interface Attachments {
  /**
   * Resolves with what the controller tells the driver of the attachment. Rejects at once, rather than waiting, while the
   * volume is not attached: attaching takes seconds.
   */
  ensure(device: Device, volume: CsiVolume, signal: AbortSignal): Promise<Readonly<Record<string, string>>>;
  /** Deletes the attachment, where it is the node's own to delete. The node does not use the volume any more. */
  end(device: Device, signal: AbortSignal): Promise<void>;
}

type Objects = Pick<
  CsiObjects,
  "volumeAttachment" | "createVolumeAttachment" | "deleteVolumeAttachment" | "nodeVolumesAttached"
>;
type Options = Pick<CsiPluginOptions, "enableControllerAttachDetach" | "nodeName">;

export function createAttachments(objects: Objects, options: Options): Attachments {
  const { nodeName, enableControllerAttachDetach } = options;

  /**
   * The controller removes a volume from the node's list, checks once more whether the node reports that it uses it, and only
   * then detaches. This node reports the use first and reads the list afterwards, so that one of the two always notices the
   * other (upstream's GenerateVerifyControllerAttachedVolumeFunc).
   */
  const refuseUnlisted = async (volume: CsiVolume, signal: AbortSignal) => {
    const names = await objects.nodeVolumesAttached(signal);
    if (
      names === undefined ||
      names.includes(uniqueVolumeName({ driver: volume.driverName, volumeHandle: volume.handle }))
    )
      return;
    const message = `Volume not attached according to node status for volume "${volume.specName}"`;
    throw attachFailure(message, { isUsual: true });
  };

  const find = async (name: string, volume: CsiVolume, signal: AbortSignal): Promise<VolumeAttachment> => {
    try {
      return await objects.volumeAttachment(name, signal);
    } catch (error) {
      if (error instanceof Error && isAbort(error)) throw error;
      const message = `volume ${volume.handle} has GET error for volume attachment ${name}: ${messageOf(error)}`;
      throw new AwaitedError(message, { cause: error, isUsual: isApiError(error, "NotFound") });
    }
  };

  return {
    async ensure(device, volume, signal) {
      const name = device.attachmentName;
      if (enableControllerAttachDetach) await refuseUnlisted(volume, signal);
      else await objects.createVolumeAttachment(newAttachment(name, volume, nodeName), signal);
      const { metadata, status } = await find(name, volume, signal);
      if (metadata?.deletionTimestamp !== undefined) throw new AwaitedError("volume attachment is being deleted");
      if (status?.attached === true) return status.attachmentMetadata ?? {};
      const problem = status?.attachError?.message;
      if (problem !== undefined) {
        throw attachFailure(`AttachVolume.Attach failed for volume "${volume.specName}" : ${problem}`);
      }
      const message = `volume ${volume.handle} is not attached for volume attachment ${name}`;
      throw new AwaitedError(message, { isUsual: true });
    },
    async end(device, signal) {
      if (!enableControllerAttachDetach) await objects.deleteVolumeAttachment(device.attachmentName, signal);
    },
  };
}

function attachFailure(message: string, options: { isUsual?: boolean } = {}): VolumeOperationError {
  return new VolumeOperationError(message, { reason: "FailedAttachVolume", cause: new AwaitedError(message, options) });
}

function newAttachment(name: string, volume: CsiVolume, nodeName: string): VolumeAttachment {
  const { driverName, specName, inlineSpec } = volume;
  const source = inlineSpec === undefined ? { persistentVolumeName: specName } : { inlineVolumeSpec: inlineSpec };
  return {
    apiVersion: "storage.k8s.io/v1",
    kind: "VolumeAttachment",
    metadata: { name },
    spec: { nodeName, attacher: driverName, source },
  };
}
