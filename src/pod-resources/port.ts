/** What is told of the resources of pods to whoever asks at the node agent's socket. */
export interface PodResourcesSource {
  /** The pods that have not ended. */
  list(): readonly PodUse[];
  /** Undefined: there is no such pod here. */
  get(namespace: string, name: string): PodUse | undefined;
  /** The CPUs that containers may have for themselves. */
  allocatableCpus(): readonly number[];
  /** The memory that containers may have for themselves, by NUMA node. */
  allocatableMemory(): readonly MemoryUse[];
  /** All devices that may be given to containers, whether some container has them or not. */
  allocatableDevices(): readonly DeviceUse[];
}

/** What the containers of one pod have. */
export interface PodUse {
  readonly name: string;
  readonly namespace: string;
  readonly containers: readonly ContainerResourceUse[];
}

/** What one container has. Init containers that are no sidecars have ended, and are not told of. */
export interface ContainerResourceUse {
  readonly name: string;
  readonly isSidecar: boolean;
  /** The CPUs that it has for itself. */
  readonly cpus: readonly number[];
  /** The memory that it has for itself. */
  readonly memory: readonly MemoryUse[];
  readonly devices: readonly DeviceUse[];
  readonly claims: readonly ClaimUse[];
}

/** A claim of the container, with all devices of the claim. */
interface ClaimUse {
  readonly namespace: string;
  readonly name: string;
  readonly devices: ReadonlyArray<{
    readonly driver: string;
    readonly poolName: string;
    readonly deviceName: string;
    readonly shareId: string | undefined;
    readonly cdiDeviceIds: readonly string[];
  }>;
}

/** One device, once for each NUMA node that it is close to. */
export interface DeviceUse {
  readonly resource: string;
  readonly id: string;
  /** Undefined where the device is close to none. */
  readonly numaNode: number | undefined;
}

/** Memory of one kind, `memory` or a size of huge pages, on these NUMA nodes together. */
export interface MemoryUse {
  readonly resource: string;
  /** In bytes. */
  readonly size: number;
  readonly numaNodes: readonly number[];
}

/** The methods of the service, as its metrics tell them apart. */
export type PodResourcesMethod = "list" | "get" | "get_allocatable";
/** The versions of the service. */
export type PodResourcesVersion = "v1" | "v1alpha1";
