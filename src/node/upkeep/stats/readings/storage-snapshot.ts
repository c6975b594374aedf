import type { FileSystemUsage } from "../../../../host/port.ts";
import type { Remembered } from "./remembered-values.ts";

/** What the node's file systems hold, and what of it is the pods'. What could not be read is undefined or missing. */
export interface StorageSnapshot {
  /** Of the node agent's root directory. */
  readonly nodeFs: Remembered<FileSystemUsage> | undefined;
  readonly imageFs: ImageFileSystem | undefined;
  /** Of the containers' own layers: another one than that of the images only where the runtime keeps them apart. */
  readonly containerFs: ImageFileSystem | undefined;
  /** By UID. */
  readonly pods: ReadonlyMap<string, PodStorage>;
}

/** A file system of the runtime's, and how much of it images or layers take. */
export interface ImageFileSystem {
  readonly at: number;
  readonly mountpoint: string;
  readonly used: Taken;
  readonly fileSystem: FileSystemUsage | undefined;
}

/** What something takes of a disk. */
export interface Taken {
  readonly bytes: number;
  /** Undefined where nobody counts them. */
  readonly inodes: number | undefined;
}

/** Of one pod. */
export interface PodStorage {
  /** By container id. */
  readonly layers: ReadonlyMap<string, Remembered<Taken>>;
  readonly files: Remembered<PodFilesUsage> | undefined;
  readonly volumes: readonly VolumeReading[];
}

/** Files of the node agent's that are a pod's. */
export interface PodFilesUsage {
  /** Of all instances, by the names of the containers. */
  readonly containerLogs: ReadonlyMap<string, Taken>;
  /** Beside those of its containers. */
  readonly podLogs: Taken;
  /** `/etc/hosts`; undefined for a pod that has another. */
  readonly hosts: Taken | undefined;
}

/** A volume of a pod. */
export interface VolumeReading {
  readonly name: string;
  readonly at: number;
  readonly used: Taken | undefined;
  readonly fileSystem: FileSystemUsage | undefined;
  readonly claim: { readonly namespace: string; readonly name: string } | undefined;
  readonly abnormal: boolean | undefined;
  /** It takes of the node's disk and counts as its pod's. */
  readonly isEphemeral: boolean;
}
