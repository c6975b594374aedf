import type { CallOptions } from "../grpc/port.ts";

/**
 * The service of one device plugin (upstream's `deviceplugin.DevicePlugin`, v1beta1). Every call rejects with a
 * `GrpcError`, or with AbortedError when its signal fired.
 */
export interface DevicePlugin {
  options(call?: CallOptions): Promise<DevicePluginOptions>;
  /** All devices of the plugin, each time that one of them changes. It ends when the plugin goes or its signal fires. */
  listAndWatch(call?: CallOptions): AsyncIterable<readonly PluginDevice[]>;
  /** The devices that the plugin would rather give away together; nothing of the answer is checked. */
  preferredAllocation(request: PreferredAllocation, call?: CallOptions): Promise<readonly string[]>;
  /** What a container needs to use the devices; undefined where the plugin answers for no container. */
  allocate(deviceIds: readonly string[], call?: CallOptions): Promise<DeviceResponse | undefined>;
  /** Makes the devices ready before a container starts. */
  preStartContainer(deviceIds: readonly string[], call?: CallOptions): Promise<void>;
  /** Cancels the calls in flight and closes the socket. */
  close(): void;
}

/** What a plugin wants to be asked. */
export interface DevicePluginOptions {
  readonly preStartRequired: boolean;
  readonly preferredAllocationAvailable: boolean;
}

export interface PluginDevice {
  readonly id: string;
  readonly isHealthy: boolean;
  /** The NUMA nodes that the device is close to; empty where the plugin does not tell. */
  readonly numaNodes: readonly number[];
}

/** Which of the available devices a plugin is asked to choose. */
export interface PreferredAllocation {
  readonly available: readonly string[];
  readonly mustInclude: readonly string[];
  readonly size: number;
}

/** What a plugin adds to a container that gets its devices. */
export interface DeviceResponse {
  readonly envs: Readonly<Record<string, string>>;
  readonly mounts: ReadonlyArray<{
    readonly containerPath: string;
    readonly hostPath: string;
    readonly readOnly: boolean;
  }>;
  readonly devices: ReadonlyArray<{
    readonly containerPath: string;
    readonly hostPath: string;
    readonly permissions: string;
  }>;
  readonly annotations: Readonly<Record<string, string>>;
  /** Qualified names (`vendor.example/class=name`). */
  readonly cdiDevices: readonly string[];
}

/** What a plugin says when it registers at the socket of the node agent. */
export interface DeviceRegistration {
  readonly version: string;
  /** The name of the plugin's socket, in the directory of the node agent's. */
  readonly endpoint: string;
  readonly resourceName: string;
}
