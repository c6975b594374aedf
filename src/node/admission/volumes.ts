import type { Pod, Volume } from "../../api/gen/types.ts";
import type { AdmitHandler, Rejection } from "./admission.ts";

/** What the node's volumes say of a pod before it is let in. */
export interface VolumeAdmission {
  /** Why the volume, which the words name, is of a kind that this node never brings. Default: there is none. */
  findRefusedVolume?: ((volume: Volume) => string | undefined) | undefined;
  /** Why the pod's volumes are more than a storage driver can serve on this node. Default: no driver has a limit. */
  volumeLimit?: ((pod: Pod) => string | undefined) | undefined;
}

/**
 * Refuses pods whose volumes this node can never bring. The reasons are those of upstream: of what a kubelet does not
 * support, and of volumes that were attached to the limit (pkg/kubelet/volumemanager/volume_manager.go).
 */
export function createVolumeHandlers({ findRefusedVolume, volumeLimit }: VolumeAdmission): {
  refused: AdmitHandler;
  limited: AdmitHandler;
} {
  return {
    refused({ spec }) {
      const problems = (spec?.volumes ?? []).flatMap((volume) => findRefusedVolume?.(volume) ?? []);
      return reject("UnsupportedFeature", problems.length === 0 ? undefined : problems.join("; "));
    },
    limited: (pod) => reject("VolumeAttachmentLimitExceeded", volumeLimit?.(pod)),
  };
}

function reject(reason: string, message: string | undefined): Rejection | undefined {
  return message === undefined ? undefined : { reason, message };
}
