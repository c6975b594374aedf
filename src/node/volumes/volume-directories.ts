/** The volumes that are directories of the pod, each kind under the name of the plugin that makes it upstream. */
const PLUGINS = {
  emptyDir: "kubernetes.io~empty-dir",
  secret: "kubernetes.io~secret",
  configMap: "kubernetes.io~configmap",
  projected: "kubernetes.io~projected",
  downwardAPI: "kubernetes.io~downward-api",
} as const;

export type DirectoryKind = keyof typeof PLUGINS;
/** The kinds whose content comes from the API: the node agent alone writes them. */
export type ApiKind = Exclude<DirectoryKind, "emptyDir">;

const API_KINDS = ["secret", "configMap", "projected", "downwardAPI"] as const satisfies readonly ApiKind[];

/** Where the volumes of one pod are; other tools know these paths. */
export interface VolumeDirectories {
  /** Holds a directory for each plugin, which holds one for each volume. */
  readonly volumes: string;
  /** Notes about the volumes that are ready. */
  readonly notes: string;
  of(kind: DirectoryKind, volumeName: string): string;
  /**
   * Holds a file `ready` once the volume has been set up. Upstream makes the other kinds out of an emptyDir, and notes
   * that one under a name of its own (pkg/volume/plugins.go, NewWrapperMounter).
   */
  noteOf(kind: DirectoryKind, volumeName: string): string;
}

/** Of the pod of this UID; `rootDirectory` is kubelet's `--root-dir`. */
export function volumeDirectories(rootDirectory: string, podUid: string): VolumeDirectories {
  const volumes = `${rootDirectory}/pods/${podUid}/volumes`;
  const notes = `${rootDirectory}/pods/${podUid}/plugins/${PLUGINS.emptyDir}`;
  return {
    volumes,
    notes,
    of: (kind, volumeName) => `${volumes}/${PLUGINS[kind]}/${volumeName}`,
    noteOf: (kind, volumeName) => `${notes}/${kind === "emptyDir" ? "" : "wrapped_"}${volumeName}`,
  };
}

/** Whether volumes below this directory may be mounted from memory: all but those that upstream too keeps on the disk. */
export function isMemoryPlugin(directoryName: string): boolean {
  const plugins: readonly string[] = [PLUGINS.emptyDir, PLUGINS.secret, PLUGINS.projected, PLUGINS.downwardAPI];
  return plugins.includes(directoryName);
}

/** Whether a volume's host path is that of a volume whose content comes from the API. */
export function isApiVolumePath(hostPath: string): boolean {
  return API_KINDS.some((kind) => hostPath.includes(`/volumes/${PLUGINS[kind]}/`));
}
