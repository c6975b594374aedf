import type { Container } from "../../api/gen/types.ts";
import { type Mount, MountPropagation } from "../../cri/gen/cri-v1.ts";

/** The fields of a CRI mount that a volume mount decides; the rest keeps its zero value. */
export type VolumeMountConfig = Pick<Mount, "containerPath" | "hostPath" | "readonly" | "propagation">;

/** The mounts that a container's `volumeMounts` ask for, in their order. Every volume they name must be in `volumes`. */
export function computeVolumeMounts(container: Container, volumes: ReadonlyMap<string, string>): VolumeMountConfig[] {
  return (container.volumeMounts ?? []).flatMap((mount) => {
    const hostPath = volumes.get(mount.name);
    if (hostPath === undefined) return [];
    return {
      containerPath: mount.mountPath.startsWith("/") ? mount.mountPath : `/${mount.mountPath}`,
      hostPath,
      readonly: mount.readOnly === true,
      propagation: propagationOf(mount.mountPropagation),
    };
  });
}

function propagationOf(mode: string | undefined): Mount["propagation"] {
  if (mode === "Bidirectional") return MountPropagation.PROPAGATION_BIDIRECTIONAL;
  if (mode === "HostToContainer") return MountPropagation.PROPAGATION_HOST_TO_CONTAINER;
  return MountPropagation.PROPAGATION_PRIVATE;
}
