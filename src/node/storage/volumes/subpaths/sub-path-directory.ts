import type { VolumeDirectories } from "../volume-directories.ts";

/**
 * The name of the directory that holds a volume's sub paths. Upstream uses the name of the persistent volume where there is
 * one (`InnerVolumeSpecName`), else the volume's name in the pod. It is the last part of the volume's own directory; a
 * volume without a directory, such as a host path, has its name in the pod.
 */
export function subPathDirectoryName(
  { volumes }: Pick<VolumeDirectories, "volumes">,
  { volumeName, volume }: { readonly volumeName: string; readonly volume: { readonly hostPath: string } },
): string {
  if (!volume.hostPath.startsWith(`${volumes}/`)) return volumeName;
  // The rest is PLUGIN/NAME, and PLUGIN/NAME/mount for CSI volumes.
  const [, name] = volume.hostPath.slice(volumes.length + 1).split("/");
  return name || volumeName;
}
