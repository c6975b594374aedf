/** A plugin as its registration socket describes it. Each appearance of a socket is a plugin of its own. */
export interface Plugin {
  /** `CSIPlugin`, `DevicePlugin`, `DRAPlugin`. */
  readonly type: string;
  /** The name of a CSI driver, or the resource of a device plugin. */
  readonly name: string;
  /** The path of the socket of the service itself. */
  readonly endpoint: string;
  /** The registration socket. */
  readonly socketPath: string;
  readonly supportedVersions: readonly string[];
}

/** Takes the plugins of one type, as upstream's cache.PluginHandler does (pkg/kubelet/pluginmanager/cache/types.go). */
export interface PluginHandler {
  readonly type: string;
  /**
   * Returns why the plugin cannot be taken; undefined where it can. It is also called where the same name is already
   * registered.
   */
  validate(plugin: Plugin): string | undefined;
  /**
   * Takes the plugin. A rejection leaves nothing of it behind. The promise must settle soon after the signal fires,
   * because the plugin is gone then. An older plugin of the same socket may still be there, and be deregistered only
   * afterwards.
   */
  register(plugin: Plugin, signal: AbortSignal): Promise<void>;
  /**
   * Called when this very plugin, the object that was registered, is gone. It is not called when the node agent itself
   * ends.
   */
  deregister(plugin: Plugin): void;
}
