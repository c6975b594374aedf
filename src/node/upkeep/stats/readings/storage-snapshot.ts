import type { FileSystemUsage } from "../../../../host/port.ts";
import type { Remembered } from "./remembered-values.ts";

/**
 * The contents of the node's file systems and the pods' share of them. A value that could not be read is undefined or
 * missing.
 */
export interface StorageSnapshot {
  /** The file system of the node agent's root directory. */
  readonly nodeFs: Remembered<FileSystemUsage> | undefined;
  readonly imageFs: ImageFileSystem | undefined;
  /**
   * The file system of the containers' own layers. It differs from `imageFs` only if the runtime keeps the two apart.
   */
  readonly containerFs: ImageFileSystem | undefined;
  /** The storage of each pod, by UID. */
  readonly pods: ReadonlyMap<string, PodStorage>;
}

/** One of the runtime's file systems, and how much of it images or layers take. */
export interface ImageFileSystem {
  readonly at: number;
  readonly mountpoint: string;
  readonly used: Taken;
  readonly fileSystem: FileSystemUsage | undefined;
}

/** The amount of a disk that something takes. */
export interface Taken {
  readonly bytes: number;
  /** The number of inodes. Undefined where inodes are not counted. */
  readonly inodes: number | undefined;
}

/** The storage of one pod. */
export interface PodStorage {
  /** The containers' writable layers, by container id. */
  readonly layers: ReadonlyMap<string, Remembered<Taken>>;
  readonly files: Remembered<PodFilesUsage> | undefined;
  readonly volumes: readonly VolumeReading[];
}

/** The node agent's files that belong to one pod. */
export interface PodFilesUsage {
  /** The logs of all instances of each container, by container name. */
  readonly containerLogs: ReadonlyMap<string, Taken>;
  /** The pod's logs without those of its containers. */
  readonly podLogs: Taken;
  /** The pod's `/etc/hosts`. Undefined for a pod whose hosts file is not the node's. */
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
  /** The volume takes space of the node's disk and counts as ephemeral storage of its pod. */
  readonly isEphemeral: boolean;
}
