/** A plugin, as its registration socket says. Each time that a socket appears is a plugin of its own. */
export interface Plugin {
  /** `CSIPlugin`, `DevicePlugin`, `DRAPlugin`. */
  readonly type: string;
  /** The name of a CSI driver, or the resource of a device plugin. */
  readonly name: string;
  /** Path of the socket of the service itself. */
  readonly endpoint: string;
  /** The registration socket. */
  readonly socketPath: string;
  readonly supportedVersions: readonly string[];
}

/** Who takes the plugins of a type, as upstream's cache.PluginHandler does (pkg/kubelet/pluginmanager/cache/types.go). */
export interface PluginHandler {
  readonly type: string;
  /** Why the plugin cannot be taken; undefined where it can. Also called where the same name is registered already. */
  validate(plugin: Plugin): string | undefined;
  /**
   * Takes the plugin. A rejection leaves nothing of it behind; it must settle soon after the signal fired, because the
   * plugin is gone then. An older plugin of the same socket may still be there, and be deregistered only afterwards.
   */
  register(plugin: Plugin, signal: AbortSignal): Promise<void>;
  /** This very plugin, the object that was registered, is gone. Not called when the node agent itself ends. */
  deregister(plugin: Plugin): void;
}
