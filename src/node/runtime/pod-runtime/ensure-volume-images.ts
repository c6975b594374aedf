import type { Container, Pod } from "../../../api/gen/types.ts";
import { ImageSpec } from "../../../cri/gen/cri-v1.ts";
import type { RuntimeVersion } from "../../../cri/runtime-release.ts";
import { findImageMountProblem } from "../../storage/volumes/image/image-mount-support.ts";
import type { ReadyVolume } from "../../storage/volumes/volume-plugin.ts";
import type { PresentImage } from "../images/image-outcome.ts";
import type { StartFailure } from "./start-failure.ts";

interface VolumeImageDeps {
  ensureImage(pod: Pod, container: Container, signal: AbortSignal): Promise<PresentImage | StartFailure>;
  /** The runtime as it answers Version; one that is not known is taken to mount images. */
  runtimeVersion(): RuntimeVersion;
}

/**
 * Pulls the images that the container mounts as volumes, each by its own policy, before the container's own image. Returns
 * them by the volumes' names. The first that cannot be pulled or mounted keeps the container from starting
 * (pkg/kubelet/kuberuntime/kuberuntime_manager.go, getImageVolumes).
 */
export async function ensureVolumeImages(
  deps: VolumeImageDeps,
  run: { pod: Pod; next: { container: Container }; volumes: ReadonlyMap<string, ReadyVolume> },
  signal: AbortSignal,
): Promise<{ found: ReadonlyMap<string, ImageSpec> } | StartFailure> {
  const { pod, next, volumes } = run;
  const { name, volumeMounts = [] } = next.container;
  const found = new Map<string, ImageSpec>();
  for (const mount of volumeMounts) {
    const volume = volumes.get(mount.name);
    if (volume?.kind !== "image") continue;
    const problem = findProblem(deps, Boolean(mount.subPath || mount.subPathExpr));
    if (problem !== undefined) {
      const message = `cannot mount volume "${mount.name}" into container "${name}": ${problem}`;
      return { reason: "CreateContainerConfigError", message };
    }
    if (found.has(mount.name)) continue;
    const { image, pullPolicy } = volume;
    const asked = { name, image, ...(pullPolicy === undefined ? {} : { imagePullPolicy: pullPolicy }) };
    const present = await deps.ensureImage(pod, asked, signal);
    if ("reason" in present) return present;
    const annotations = pod.metadata?.annotations ?? {};
    found.set(mount.name, ImageSpec.fromPartial({ image: present.imageRef, userSpecifiedImage: image, annotations }));
  }
  return { found };
}

function findProblem({ runtimeVersion }: VolumeImageDeps, subPath: boolean): string | undefined {
  return findImageMountProblem(runtimeVersion(), { subPath });
}
