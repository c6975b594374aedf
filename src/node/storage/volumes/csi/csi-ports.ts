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
  /** Undefined where there is none. Asked at each set-up, so it should be at hand. */
  csiDriver(name: string, signal: AbortSignal): Promise<CSIDriver | undefined>;
  /** As the API server has it now: from memory, a volume that is being detached might still look attached. */
  volumeAttachment(name: string, signal: AbortSignal): Promise<VolumeAttachment>;
  /** Nothing happens where it exists. Only without a controller that attaches. */
  createVolumeAttachment(attachment: VolumeAttachment, signal: AbortSignal): Promise<void>;
  /** Nothing happens where there is none. */
  deleteVolumeAttachment(name: string, signal: AbortSignal): Promise<void>;
  /**
   * `status.volumesAttached` of this node, as the API server has it now: the controller takes a volume off this list
   * before it detaches it. Undefined where nobody keeps it.
   */
  nodeVolumesAttached(signal: AbortSignal): Promise<readonly string[] | undefined>;
  /** Patches the status from what the claim had to what it is to have; rejects where somebody else changed it. */
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
  /** Resolves when `status.volumesInUse` of the node has all these names: nothing is mounted before. */
  readonly inUse: { report(names: readonly string[], signal: AbortSignal): Promise<void> };
  onEvent(pod: Pod, event: CsiEvent): void;
  readonly log: Log;
}

/** What of the machine's files is needed. */
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
  /** The feature gate SELinuxMount: labels by mount option are not for ReadWriteOncePod volumes alone. Default false. */
  readonly seLinuxMount?: boolean | undefined;
  /** The feature gate CSIVolumeHealth: statistics tell what drivers say of their volumes' health. Default false. */
  readonly volumeHealth?: boolean | undefined;
}
