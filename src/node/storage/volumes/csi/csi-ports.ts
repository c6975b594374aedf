import type {
  CSIDriver,
  PersistentVolumeClaim,
  PersistentVolumeClaimStatus,
  Pod,
  VolumeAttachment,
} from "../../../../api/gen/types.ts";
import type { Clock } from "../../../../base/clock.ts";
import type { Log } from "../../../../base/log.ts";
import type { CsiDrivers } from "../../../../csi/port.ts";
import type { Mounts } from "../../../../host/mounts-port.ts";
import type { Files } from "../../../../host/port.ts";
import type { VolumeSources } from "../api/volume-sources.ts";

/** The API objects that volumes of CSI drivers depend on. Every call is bounded in time by its implementation. */
export interface CsiObjects extends Pick<VolumeSources, "secret" | "token"> {
  /** The CSIDriver object; undefined where there is none. It is asked for at each set-up, so it should be in memory. */
  csiDriver(name: string, signal: AbortSignal): Promise<CSIDriver | undefined>;
  /** Reads it from the API server: in a cache, a volume that is being detached might still look attached. */
  volumeAttachment(name: string, signal: AbortSignal): Promise<VolumeAttachment>;
  /** Creates it unless it exists. It is called only where no controller attaches volumes. */
  createVolumeAttachment(attachment: VolumeAttachment, signal: AbortSignal): Promise<void>;
  /** Deletes it where it exists. */
  deleteVolumeAttachment(name: string, signal: AbortSignal): Promise<void>;
  /**
   * Reads `status.volumesAttached` of this node from the API server. The controller takes a volume off this list before it
   * detaches it. Undefined where no controller keeps the list.
   */
  nodeVolumesAttached(signal: AbortSignal): Promise<readonly string[] | undefined>;
  /** Patches the claim's status to the new one; rejects where somebody else has changed it meanwhile. */
  updateClaimStatus(
    claim: PersistentVolumeClaim,
    status: PersistentVolumeClaimStatus,
    signal: AbortSignal,
  ): Promise<PersistentVolumeClaim>;
}

/** An event of a pod. */
export interface CsiEvent {
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  readonly message: string;
}

export interface CsiPluginDeps {
  readonly objects: CsiObjects;
  readonly drivers: CsiDrivers;
  readonly files: CsiFiles;
  readonly mounts: Pick<Mounts, "bind" | "isMountPoint" | "list" | "unmount">;
  readonly clock: Clock;
  /** Resolves when `status.volumesInUse` of the node has all these names. No volume is mounted before. */
  readonly inUse: { report(names: readonly string[], signal: AbortSignal): Promise<void> };
  onEvent(pod: Pod, event: CsiEvent): void;
  readonly log: Log;
}

/** The accesses of files that the plugin needs. */
export type CsiFiles = Pick<
  Files,
  | "changeGroup"
  | "link"
  | "list"
  | "makeDirectory"
  | "read"
  | "readLink"
  | "remove"
  | "removeEmptyDirectory"
  | "stat"
  | "touch"
  | "writeAtomically"
>;

export interface CsiPluginOptions {
  /** kubelet's `--root-dir`. */
  readonly rootDirectory: string;
  readonly nodeName: string;
  /** False: no controller attaches volumes to this node, so that it makes the VolumeAttachments itself. */
  readonly enableControllerAttachDetach: boolean;
  /** The machine enforces SELinux labels. */
  readonly seLinuxEnabled: boolean;
  /** The feature gate SELinuxMount: volumes of all access modes get their labels by mount option. Default false. */
  readonly seLinuxMount?: boolean | undefined;
  /** The feature gate CSIVolumeHealth: statistics tell what drivers say of their volumes' health. Default false. */
  readonly volumeHealth?: boolean | undefined;
}
