/** Where a pod's volumes are on the host. Other tools, and a Go kubelet that takes the node over, know these paths. */
export interface VolumeDirectories {
  readonly podUid: string;
  /** kubelet's `--root-dir`. */
  readonly rootDirectory: string;
  /** Holds a directory for each plugin, which holds one for each volume. */
  readonly volumes: string;
  /** Holds the same directories for block devices, with a link to each device. */
  readonly devices: string;
  /** Holds the parts of volumes that containers mount by `subPath`, as `VOLUME/CONTAINER/INDEX`. */
  readonly subPaths: string;
  /** Holds notes about the volumes that are ready. */
  readonly notes: string;
  /** The directory of a volume. `pluginName` is the plugin's full name: `kubernetes.io/secret`. */
  of(pluginName: string, directoryName: string): string;
  deviceOf(pluginName: string, directoryName: string): string;
  /**
   * The directory that holds a file `ready` once the volume has been set up. Upstream makes volumes of API objects out
   * of an emptyDir, and notes that one under a name of its own (pkg/volume/plugins.go, NewWrapperMounter).
   */
  noteOf(pluginName: string, directoryName: string): string;
}

/** The plugin of emptyDir volumes. The notes of all other plugins are kept with its own. */
export const EMPTY_DIR_PLUGIN = "kubernetes.io/empty-dir";
/** The plugin of config maps, whose volumes count as their pod's storage. */
export const CONFIG_MAP_PLUGIN = "kubernetes.io/configmap";

/** The directories of the pod with this UID; `rootDirectory` is kubelet's `--root-dir`. */
export function volumeDirectories(rootDirectory: string, podUid: string): VolumeDirectories {
  const pod = `${rootDirectory}/pods/${podUid}`;
  const notes = `${pod}/plugins/${escapePluginName(EMPTY_DIR_PLUGIN)}`;
  return {
    podUid,
    rootDirectory,
    volumes: `${pod}/volumes`,
    devices: `${pod}/volumeDevices`,
    subPaths: `${pod}/volume-subpaths`,
    notes,
    of: (pluginName, name) => `${pod}/volumes/${escapePluginName(pluginName)}/${name}`,
    deviceOf: (pluginName, name) => `${pod}/volumeDevices/${escapePluginName(pluginName)}/${name}`,
    noteOf: (pluginName, name) => `${notes}/${pluginName === EMPTY_DIR_PLUGIN ? "" : "wrapped_"}${name}`,
  };
}

/** A plugin's name in the form in which it names a directory. */
export function escapePluginName(name: string): string {
  return name.replaceAll("/", "~");
}
