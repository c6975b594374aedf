import { isAbort } from "../../../base/abort.ts";
import { messageOf } from "../../../base/errors.ts";
import type { Log } from "../../../base/log.ts";
import * as cri from "../../../cri/gen/cri-v1.ts";
import type { Cri } from "../../../cri/port.ts";

/** An image that a container has as a volume. */
export interface ImageMount {
  /** Where it is in the container, as `mountPathOf` writes it. */
  readonly path: string;
  /** The runtime's id of the image. */
  readonly imageRef: string;
}

export interface ImageMountDeps {
  readonly images: Pick<Cri["images"], "imageStatus">;
  readonly log: Log;
}

/** A container has a few. The runtime may show any number. */
const MAX_IMAGE_MOUNTS = 64;
/** The API takes no longer reference, and refuses the whole status of the pod then. */
const MAX_REFERENCE_CHARACTERS = 256;
const TIMEOUT_MS = 10_000;

/**
 * Reads which images a container has as volumes (upstream: the gate ImageVolumeWithDigest, kubelet_pods.go). What cannot be
 * read is logged and left out: the pod's status does not depend on it.
 */
export async function readImageMounts(
  { images, log }: ImageMountDeps,
  { id, mounts }: Pick<cri.ContainerStatus, "id" | "mounts">,
  signal: AbortSignal,
): Promise<ImageMount[]> {
  const mounted = mounts.filter(({ image }) => image !== undefined && image.image !== "").slice(0, MAX_IMAGE_MOUNTS);
  const read = mounted.map(async ({ containerPath, image }): Promise<ImageMount[]> => {
    try {
      const request = cri.ImageStatusRequest.fromPartial({ image });
      const { image: found } = await images.imageStatus(request, { signal, timeoutMs: TIMEOUT_MS });
      const imageRef = found?.id ?? "";
      const isUsable = imageRef !== "" && imageRef.length <= MAX_REFERENCE_CHARACTERS;
      return isUsable ? [{ path: mountPathOf(containerPath), imageRef }] : [];
    } catch (error) {
      if (isAbort(error)) throw error;
      log.error("error getting image volume digest", { container: id, path: containerPath, error: messageOf(error) });
      return [];
    }
  });
  return (await Promise.all(read)).flat();
}

/** A path in a container in the one form in which two that mean the same are equal. */
export function mountPathOf(path: string): string {
  return `/${path.split("/").filter(Boolean).join("/")}`;
}
