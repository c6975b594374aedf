/** What a pod's volumes are on the host; other tools, and a Go kubelet that takes over, know these paths. */
export interface VolumeDirectories {
  readonly podUid: string;
  /** kubelet's `--root-dir`. */
  readonly rootDirectory: string;
  /** Holds a directory for each plugin, which holds one for each volume. */
  readonly volumes: string;
  /** The same for block devices: links to them. */
  readonly devices: string;
  /** What containers mount of volumes by `subPath`: `VOLUME/CONTAINER/INDEX`. */
  readonly subPaths: string;
  /** Notes about the volumes that are ready. */
  readonly notes: string;
  /** Of a volume, by the name of its plugin: `kubernetes.io/secret`. */
  of(pluginName: string, directoryName: string): string;
  deviceOf(pluginName: string, directoryName: string): string;
  /**
   * Holds a file `ready` once the volume has been set up. Upstream makes volumes of API objects out of an emptyDir, and
   * notes that one under a name of its own (pkg/volume/plugins.go, NewWrapperMounter).
   */
  noteOf(pluginName: string, directoryName: string): string;
}

/** The plugin whose notes those of others are kept with. */
export const EMPTY_DIR_PLUGIN = "kubernetes.io/empty-dir";
/** The plugin of config maps, whose volumes count as their pod's storage. */
export const CONFIG_MAP_PLUGIN = "kubernetes.io/configmap";

/** Of the pod of this UID; `rootDirectory` is kubelet's `--root-dir`. */
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

/** A plugin's name as that of a directory. */
export function escapePluginName(name: string): string {
  return name.replaceAll("/", "~");
}
