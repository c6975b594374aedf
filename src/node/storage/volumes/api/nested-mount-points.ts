import { posix } from "node:path";
import type { Container, Pod } from "../../../../api/gen/types.ts";
import { podContainers } from "../../../../api/pods.ts";
import { VolumeSetUpError } from "../volume-error.ts";

/**
 * The directories that a volume must hold because containers mount other volumes below it. The runtime cannot make them,
 * since the volume is read-only to it. Of nested mount points only the outermost count (pkg/volume/util/nested_volumes.go).
 * Throws where a container mounts the volume outside of its file system.
 */
export function computeNestedMountPoints(pod: Pod, volumeName: string): string[] {
  return [...new Set(podContainers(pod).flatMap(({ container }) => nestedIn(container, volumeName)))];
}

function nestedIn(container: Container, volumeName: string): string[] {
  const mounts = (container.volumeMounts ?? []).map(({ name, mountPath }) => ({ name, path: cleanPath(mountPath) }));
  return mounts.flatMap((own) => {
    if (own.name !== volumeName) return [];
    if (own.path === ".." || own.path.startsWith("../"))
      throw new VolumeSetUpError("invalid", `invalid container mount point ${own.path}`);
    const beneath = `${own.path}/`;
    const nested = mounts.map(({ path }) => path).filter((path) => path.startsWith(beneath));
    const outermost = nested.filter((path) => !nested.some((other) => path.startsWith(`${other}/`)));
    return outermost.map((path) => path.slice(beneath.length));
  });
}

function cleanPath(path: string): string {
  const clean = posix.normalize(path);
  return clean.length > 1 && clean.endsWith("/") ? clean.slice(0, -1) : clean;
}
