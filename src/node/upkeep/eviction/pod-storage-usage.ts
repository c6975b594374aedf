/**
 * What a pod uses of the node's disk, in bytes. What could not be measured is left out, so that all of it is at least what
 * is really used.
 */
export interface PodStorageUsage {
  /** Of volumes that are the pod's own: emptyDirs, also those in memory, and config maps. By their names in the pod. */
  readonly volumes: ReadonlyMap<string, number>;
  /** Of those that run; what has ended is cleaned up anyway. */
  readonly containers: readonly ContainerStorageUsage[];
  /** In the pod's directory for logs, beside those of its containers. */
  readonly podLogs: number;
  /** Files of the node that its containers find mounted and can write: /etc/hosts, the termination logs and so on. */
  readonly hostFiles: number;
}

/** One container that runs. */
export interface ContainerStorageUsage {
  readonly name: string;
  /** What it has written over its image. */
  readonly writableLayer: number;
  /** Of all its instances, as far as they have not been rotated away. */
  readonly logs: number;
}
