import type { Pod } from "../../../api/gen/types.ts";
import { podUid } from "../../../api/pods.ts";
import type { Device, ImageSpec, Mount } from "../../../cri/gen/cri-v1.ts";
import { type PlannedMount, planVolumeDevices, planVolumeMounts } from "../../storage/volumes/container-mounts.ts";
import type { SubPaths } from "../../storage/volumes/subpaths/sub-paths.ts";
import type { ReadyVolume } from "../../storage/volumes/volume-plugin.ts";
import type { ContainerMount } from "../config/container-config.ts";
import type { EnvironmentVariable } from "../config/environment.ts";
import { expandSubPath } from "../config/sub-path-expression.ts";
import type { ContainerToStart } from "../plan/pod-actions.ts";

/** Everything that a container's mounts of volumes depend on. */
export interface VolumeMountInput {
  pod: Pod;
  next: Pick<ContainerToStart, "container">;
  volumes: ReadonlyMap<string, ReadyVolume>;
  /** The container's environment, for `subPathExpr`. */
  environment: readonly EnvironmentVariable[];
  /** The images of those of its volumes that are images, by the volumes' names. The runtime has them. */
  images: ReadonlyMap<string, ImageSpec>;
  /** Whether the runtime handler of the pod's sandbox supports recursive read-only mounts. */
  supportsRecursiveReadOnly: boolean;
}

/** The mounts and devices, or the message of a CreateContainerConfigError. */
export type MadeMounts =
  | { ok: true; mounts: readonly ContainerMount[]; devices: readonly Device[] }
  | { ok: false; error: string };

/**
 * Makes the container's mounts of volumes and its block devices. Parts of volumes are mounted at places of the node's
 * own.
 */
export async function makeVolumeMounts(
  deps: { subPaths: Pick<SubPaths, "prepare"> },
  input: VolumeMountInput & { seLinuxEnabled: boolean },
): Promise<MadeMounts> {
  const { volumes, environment } = input;
  const { container } = input.next;
  const devices = planVolumeDevices(container, volumes);
  if (!devices.ok) return devices;
  const expand = (expression: string) => expandSubPath(expression, environment);
  const planned = planVolumeMounts(container, { ...input, expand });
  if (!planned.ok) return planned;
  const mounts: ContainerMount[] = [];
  for (const mount of planned.value) {
    const shown = await showSource(deps.subPaths, input, mount);
    if ("error" in shown) return { ok: false, error: shown.error };
    mounts.push({ ...mount.config, ...shown });
  }
  return { ok: true, mounts, devices: devices.value };
}

type Source = Pick<Mount, "hostPath"> & Partial<Pick<Mount, "image" | "imageSubPath">>;

async function showSource(
  subPaths: Pick<SubPaths, "prepare">,
  { pod, next, images }: VolumeMountInput,
  { volumeName, index, source }: PlannedMount,
): Promise<Source | { error: string }> {
  const containerName = next.container.name;
  switch (source.kind) {
    case "volume":
      return { hostPath: source.hostPath };
    case "sub-path": {
      const { volume, subPath } = source;
      const request = { podUid: podUid(pod), volumeName, volume, subPath, containerName, index };
      const shown = await subPaths.prepare(request);
      return shown.ok ? { hostPath: shown.value } : shown;
    }
    case "image": {
      const image = images.get(volumeName);
      if (image !== undefined) return { hostPath: "", image, imageSubPath: source.subPath };
      return { error: `cannot find volume "${volumeName}" to mount into container "${containerName}"` };
    }
  }
}
