/**
 * The space that a pod uses on the node's disk, in bytes. Parts that could not be measured are left out, so the real
 * use is never less than the sum.
 */
export interface PodStorageUsage {
  /**
   * The use of volumes that belong to the pod itself, by their names in the pod: emptyDirs, including those in memory,
   * and config maps.
   */
  readonly volumes: ReadonlyMap<string, number>;
  /** The use of running containers. Containers that have ended are cleaned up anyway. */
  readonly containers: readonly ContainerStorageUsage[];
  /** The files in the pod's log directory, without the logs of its containers. */
  readonly podLogs: number;
  /**
   * The node's files that are mounted into the pod's containers and that the containers can write, such as /etc/hosts
   * and the termination logs.
   */
  readonly hostFiles: number;
}

/** The use of one running container. */
export interface ContainerStorageUsage {
  readonly name: string;
  /** The bytes that the container has written over its image. */
  readonly writableLayer: number;
  /** The logs of all instances of the container that have not been rotated away. */
  readonly logs: number;
}
