import type { CallOptions } from "../grpc/port.ts";

/**
 * The registration service of one plugin, on its socket below `plugins_registry` (upstream's
 * `pluginregistration.Registration`, v1). It tells who the plugin is, and the plugin is told the outcome. The real
 * adapter (`connectPluginRegistration`) and the fake (`createFakePlugin`) pass one contract suite. Every call rejects
 * with a `GrpcError`, or with AbortedError when its signal fired; each may be repeated after any failure.
 */
export interface PluginRegistration {
  getInfo(options?: CallOptions): Promise<PluginInfo>;
  /** Tells the plugin whether it was registered. */
  notify(status: PluginStatus, options?: CallOptions): Promise<void>;
  /** Cancels the calls in flight and closes the socket. */
  close(): void;
}

/** The plugin's description of itself; nothing of it is checked. */
export interface PluginInfo {
  /** `CSIPlugin`, `DevicePlugin`, `DRAPlugin`, or any other text that the plugin gives. */
  readonly type: string;
  /** The name of a CSI driver, or the resource of a device plugin. */
  readonly name: string;
  /** The path of the socket of the service itself. Empty means that the registration socket serves it too. */
  readonly endpoint: string;
  /** `1.0.0`, `v1beta1`. */
  readonly supportedVersions: readonly string[];
}

/** The outcome of a registration. */
export interface PluginStatus {
  readonly registered: boolean;
  /** Why the plugin was not registered; empty when it was. */
  readonly error: string;
}
