import type { PersistentVolume, PersistentVolumeClaim, Pod, Volume } from "../../../api/gen/types.ts";
import type { VolumeDirectories } from "./volume-directories.ts";

/**
 * One way to bring volumes onto the node, as upstream's volume plugins are. A plugin keeps all that must survive on the
 * disk, so that a restart rebuilds nothing: set-ups are repeated for every pod, and a tear-down needs only the
 * directories. Calls for one pod come one at a time; calls for different pods may overlap.
 */
export interface VolumePlugin {
  /** The plugin's name, which also names its directories: `kubernetes.io/empty-dir`. */
  readonly name: string;
  /** Whether this plugin brings volumes of this source. */
  supports(source: VolumeSource): boolean;
  /**
   * Checks whether the pod may have all these volumes of the plugin, including those that it has already. It is asked
   * at every sync, before the first of them is set up. Where it rejects with a `VolumeOperationError`, none is set up.
   */
  admit?(requests: readonly VolumeRequest[]): Promise<void>;
  /**
   * Sets one volume up. It is called at every sync of the pod, and does little where nothing changed. A rejection with
   * a `VolumeOperationError` is told word for word; any other error is told as a failed `MountVolume.SetUp`.
   */
  setUp(request: VolumeRequest): Promise<VolumeSetUp>;
  /**
   * Undoes what a set-up, finished or not, left of one volume, and removes the volume's directory; another node agent
   * may have made it. Absent for plugins that leave nothing in the pod's directory. It is called again after an abort.
   */
  tearDown?(place: VolumePlace, signal?: AbortSignal): Promise<void>;
  /** The pod is gone, so that the plugin may forget what it remembers of it. */
  forget?(podUid: string): void;
}

/** One volume of a pod that its containers use. */
export interface VolumeRequest {
  readonly pod: Pod;
  /** The volume's name in the pod. */
  readonly volumeName: string;
  readonly source: VolumeSource;
  readonly directories: VolumeDirectories;
  readonly signal: AbortSignal;
}

/** Where a volume comes from: the pod's own definition, or the persistent volume that its claim is bound to. */
export type VolumeSource =
  | { readonly kind: "pod"; readonly volume: Volume }
  | {
      readonly kind: "persistent";
      readonly persistentVolume: PersistentVolume;
      readonly claim: PersistentVolumeClaim;
      /** The pod asks for the whole volume read-only. */
      readonly readOnly: boolean;
    };

/** A place on the disk that belongs to a volume of a pod. */
export interface VolumePlace {
  readonly podUid: string;
  /** The last part of the path: the volume's name in the pod, or the persistent volume's name. */
  readonly directoryName: string;
  readonly path: string;
  /** `device`: the place is below `volumeDevices`. */
  readonly kind: "files" | "device";
}

/** A volume whose content is known, and which may still be mounted in the background. */
export interface VolumeSetUp {
  readonly volume: ReadyVolume;
  /** Resolves when the volume may be used. Its rejection is handled already, so that it need not be awaited. */
  readonly finished: Promise<void>;
}

/** A volume that containers may mount. */
export type ReadyVolume = MountableVolume & {
  /** The group that the persistent volume's files belong to, by its annotation; the pod's processes get it too. */
  readonly group?: bigint | undefined;
};

type MountableVolume =
  | {
      readonly kind: "files";
      readonly hostPath: string;
      /** No container may write to the volume, whatever its mount says. */
      readonly readOnly: boolean;
      /** The runtime shall label the volume for SELinux. */
      readonly relabel: boolean;
    }
  | { readonly kind: "device"; readonly hostPath: string; readonly readOnly: boolean }
  /** The runtime mounts the image. */
  | { readonly kind: "image"; readonly image: string; readonly pullPolicy: string | undefined };

/** Finds the volumes that the claims of pods are bound to. */
export interface ClaimedVolumes {
  /**
   * Resolves with the persistent volume that the claim of this volume (`persistentVolumeClaim` or `ephemeral`) is bound
   * to. Rejects with a `VolumeOperationError` while there is none.
   */
  resolve(pod: Pod, volume: Volume, signal: AbortSignal): Promise<Extract<VolumeSource, { kind: "persistent" }>>;
  /** The pod is gone. */
  forget?(podUid: string): void;
}
