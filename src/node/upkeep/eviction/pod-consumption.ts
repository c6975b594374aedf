/**
 * The part of a pod's statistics that evictions use; it is a part of the summary API's form. A value that is not known
 * is absent.
 */
export interface PodConsumption {
  readonly podRef: { readonly uid: string };
  readonly memory?: MemoryUse;
  readonly containers: readonly ContainerUse[];
  readonly volume?: ReadonlyArray<DiskUse & { readonly name: string }>;
  readonly process_stats?: { readonly process_count: number };
}

/** The consumption of a running container. */
export interface ContainerUse {
  readonly name: string;
  readonly memory?: MemoryUse;
  /** The container's writable layer. */
  readonly rootfs?: DiskUse;
  readonly logs?: DiskUse;
}

interface MemoryUse {
  readonly workingSetBytes?: number;
}

interface DiskUse {
  readonly usedBytes?: number;
  readonly inodesUsed?: number;
}
