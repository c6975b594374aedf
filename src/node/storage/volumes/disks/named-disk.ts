import { VolumeSetUpError } from "../volume-error.ts";
import type { VolumeRequest, VolumeSource } from "../volume-plugin.ts";

/** A disk that a volume names, and how it shall be used. */
export interface NamedDisk {
  /** The volume's name in events, and of its directory in the pod. */
  readonly specName: string;
  /** The disk's name in the node's status. */
  readonly uniqueName: string;
  /** The disk's place beneath those of its plugin: `iface-default/10.0.0.1:3260-iqn.2026-11.com.example:disk-lun-0`. */
  readonly placeName: string;
  readonly kind: "files" | "block";
  /** Default ext4. */
  readonly fsType: string;
  readonly readOnly: boolean;
  readonly mountOptions: readonly string[];
  readonly accessModes: readonly string[] | undefined;
}

/** What both kinds of disks say in the same way. */
type DiskUse = Omit<NamedDisk, "uniqueName" | "placeName">;

const DEFAULT_FS_TYPE = "ext4";

/** The `readOnly` of a persistent volume's own source does not count, but that of the pod's claim does, as upstream. */
export function diskUseOf(
  { source, volumeName }: Pick<VolumeRequest, "source" | "volumeName">,
  { fsType, readOnly = false }: { readonly fsType?: string; readonly readOnly?: boolean },
): DiskUse {
  const isPersistent = source.kind === "persistent";
  const { spec = {}, metadata } = isPersistent ? source.persistentVolume : {};
  return {
    specName: isPersistent ? (metadata?.name ?? "") : volumeName,
    kind: spec.volumeMode === "Block" ? "block" : "files",
    fsType: fsType || DEFAULT_FS_TYPE,
    readOnly: isPersistent ? source.readOnly : readOnly,
    mountOptions: spec.mountOptions ?? [],
    accessModes: spec.accessModes,
  };
}

/** Nobody has checked the files of static pods, and upstream's validation lets these be more than one name of a path. */
export function refuseUnfitNames(names: readonly string[]): void {
  for (const name of names) {
    if (name !== "" && name !== "." && name !== ".." && !name.includes("/") && !name.includes("\0")) continue;
    throw new VolumeSetUpError("invalid", `${JSON.stringify(name)} cannot be the name of a directory`);
  }
}

/** One way to reach disks, as an upstream plugin is. */
export interface DiskKind {
  readonly pluginName: string;
  /** How many names a place has: places lie so deep beneath the directories of the plugin. */
  readonly placeDepth: number;
  /** The names of the files that the kind keeps in a place for itself. */
  readonly notes: readonly string[];
  supports(source: VolumeSource): boolean;
  /** Throws a `VolumeSetUpError` for what names no disk. */
  plan(request: VolumeRequest): NamedDisk;
  /**
   * Brings the disk to the machine, and returns the path of its device. Called again it finds the disk that is there. All
   * that it leaves can be undone by `detach`, also where it fails or dies.
   */
  attach(request: VolumeRequest, place: DiskPlace): Promise<string>;
  /**
   * Takes a disk that nothing uses any more from the machine, with what was noted in the place. It knows the place alone.
   */
  detach(place: DiskPlace, neighbours: DiskNeighbours, signal: AbortSignal): Promise<void>;
  /** The names in the node's status of the disk that has this place. */
  uniqueNamesOf(placeName: string): readonly string[];
}

/** Where a disk is mounted or mapped once, for all pods that use it. */
export interface DiskPlace {
  readonly placeName: string;
  readonly kind: "files" | "block";
  readonly path: string;
}

/** The other disks of the same plugin, of which some may need what this one needed: a session with their target. */
interface DiskNeighbours {
  /** The places of those that are on the machine, on their way to it or not yet taken away. */
  others(): readonly DiskPlace[];
  /** This disk needs nothing any more: from now on it is none of the others. */
  leave(): void;
}
