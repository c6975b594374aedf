/**
 * What the statistics tell of a pod, as far as evictions go by it: a part of the summary API's form. What is not known is
 * absent.
 */
export interface PodConsumption {
  readonly podRef: { readonly uid: string };
  readonly memory?: MemoryUse;
  readonly containers: readonly ContainerUse[];
  readonly volume?: ReadonlyArray<DiskUse & { readonly name: string }>;
  readonly process_stats?: { readonly process_count: number };
}

/** Of a container that runs. */
export interface ContainerUse {
  readonly name: string;
  readonly memory?: MemoryUse;
  /** Its own layer. */
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
