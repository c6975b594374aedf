import type { PersistentVolume, PersistentVolumeClaim, Pod, Volume } from "../../../api/gen/types.ts";
import type { VolumeDirectories } from "./volume-directories.ts";

/**
 * One way to bring volumes onto the node, as upstream's volume plugins are. It keeps what must survive on the disk, so that
 * after a restart nothing has to be rebuilt: a set-up is repeated for every pod that is there, and a tear-down needs no more
 * than the directories. For one pod, calls come one at a time; for different pods they do not.
 */
export interface VolumePlugin {
  /** `kubernetes.io/empty-dir`; names its directories. */
  readonly name: string;
  /** Whether this is one of its volumes. */
  supports(source: VolumeSource): boolean;
  /**
   * Whether the pod may have all these volumes of the plugin, those that it has already among them; asked before the first
   * of them is set up, at every sync. Rejects with a `VolumeOperationError` where not: then none of them is.
   */
  admit?(requests: readonly VolumeRequest[]): Promise<void>;
  /**
   * Called at every sync of the pod, and does little where nothing changed. Rejects with a `VolumeOperationError` where its
   * words are to stand for themselves; with any error else, which is then told as a failed `MountVolume.SetUp`.
   */
  setUp(request: VolumeRequest): Promise<VolumeSetUp>;
  /**
   * Undoes what a set-up, whole or not, left of one volume, whoever made it, and removes its directory. Absent for what
   * leaves nothing in the pod's directory. After an abort it is half undone, and is called again.
   */
  tearDown?(place: VolumePlace, signal?: AbortSignal): Promise<void>;
  /** The pod is gone: nothing in memory needs to be kept of it. */
  forget?(podUid: string): void;
}

/** One volume of a pod that its containers use. */
export interface VolumeRequest {
  readonly pod: Pod;
  /** As the pod's containers name it. */
  readonly volumeName: string;
  readonly source: VolumeSource;
  readonly directories: VolumeDirectories;
  readonly signal: AbortSignal;
}

/** What a pod says of its volume, or what its claim has led to. */
export type VolumeSource =
  | { readonly kind: "pod"; readonly volume: Volume }
  | {
      readonly kind: "persistent";
      readonly persistentVolume: PersistentVolume;
      readonly claim: PersistentVolumeClaim;
      /** The pod wants it read-only as a whole. */
      readonly readOnly: boolean;
    };

/** Where something of a volume is. */
export interface VolumePlace {
  readonly podUid: string;
  /** The last name of the path: that of the volume in the pod, or of the persistent volume. */
  readonly directoryName: string;
  readonly path: string;
  /** `device`: beneath `volumeDevices`. */
  readonly kind: "files" | "device";
}

/** A volume that lacks nothing. */
export interface VolumeSetUp {
  readonly volume: ReadyVolume;
  /** Resolves when the volume may be used. Who has no use for it need not ask what became of it. */
  readonly finished: Promise<void>;
}

/** What containers may mount. */
export type ReadyVolume =
  | {
      readonly kind: "files";
      readonly hostPath: string;
      /** No container may write it, whatever it asks for. */
      readonly readOnly: boolean;
      /** The runtime is to label it for SELinux. */
      readonly relabel: boolean;
    }
  | { readonly kind: "device"; readonly hostPath: string; readonly readOnly: boolean }
  /** The runtime mounts it. */
  | { readonly kind: "image"; readonly image: string; readonly pullPolicy: string | undefined };

/** Finds what the claims of pods stand for. */
export interface ClaimedVolumes {
  /**
   * The volume that is bound to the claim of this volume of the pod (`persistentVolumeClaim` or `ephemeral`). Rejects
   * with a `VolumeOperationError` while there is none.
   */
  resolve(pod: Pod, volume: Volume, signal: AbortSignal): Promise<Extract<VolumeSource, { kind: "persistent" }>>;
  /** The pod is gone. */
  forget?(podUid: string): void;
}
