import type { Container } from "../../api/gen/types.ts";
import { type Mount, MountPropagation } from "../../cri/gen/cri-v1.ts";

import { isApiVolumePath } from "./volume-directories.ts";

/** The fields of a CRI mount that a volume mount decides; the rest keeps its zero value. */
export type VolumeMountConfig = Pick<Mount, "containerPath" | "hostPath" | "readonly" | "propagation">;

/** The mounts that a container's `volumeMounts` ask for, in their order. Throws when one names a volume that is not in `volumes`. */
export function computeVolumeMounts(container: Container, volumes: ReadonlyMap<string, string>): VolumeMountConfig[] {
  return (container.volumeMounts ?? []).map((mount) => {
    const hostPath = volumes.get(mount.name);
    if (hostPath === undefined) {
      throw new Error(`cannot find volume "${mount.name}" to mount into container "${container.name}"`);
    }
    return {
      containerPath: mount.mountPath.startsWith("/") ? mount.mountPath : `/${mount.mountPath}`,
      hostPath,
      // No container may write what the node agent writes (CVE-2017-1002102). Asked of the path, so that nobody can forget.
      readonly: mount.readOnly === true || isApiVolumePath(hostPath),
      propagation: propagationOf(mount.mountPropagation),
    };
  });
}

function propagationOf(mode: string | undefined): Mount["propagation"] {
  if (mode === "Bidirectional") return MountPropagation.PROPAGATION_BIDIRECTIONAL;
  if (mode === "HostToContainer") return MountPropagation.PROPAGATION_HOST_TO_CONTAINER;
  return MountPropagation.PROPAGATION_PRIVATE;
}
