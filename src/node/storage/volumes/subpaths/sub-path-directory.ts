import type { VolumeDirectories } from "../volume-directories.ts";

/**
 * What upstream calls a volume when it cleans its sub paths up: the name of its persistent volume where it has one
 * (`InnerVolumeSpecName`), else that of the volume in the pod. It is the last name of a volume's own directory; a volume
 * without one, as host paths are, goes by its name in the pod.
 */
export function subPathDirectoryName(
  { volumes }: Pick<VolumeDirectories, "volumes">,
  { volumeName, volume }: { readonly volumeName: string; readonly volume: { readonly hostPath: string } },
): string {
  if (!volume.hostPath.startsWith(`${volumes}/`)) return volumeName;
  // PLUGIN/NAME, and `mount` below that for CSI.
  const [, name] = volume.hostPath.slice(volumes.length + 1).split("/");
  return name || volumeName;
}
