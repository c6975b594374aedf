import { CodedError } from "../../base/errors.ts";
import * as cri from "../../cri/gen/cri-v1.ts";
import type { Cri } from "../../cri/port.ts";
import { readUsedImages } from "../../node/runtime/images/used-images.ts";
import { DEMO_IMAGE, PAUSE_IMAGE } from "./image-references.ts";

/** An image of the node. */
export interface NodeImage {
  readonly id: string;
  /** The names with tags; an image that was pulled by digest has none. */
  readonly names: readonly string[];
  readonly digests: readonly string[];
  readonly sizeBytes: number;
  /** True where a container was made of it or mounts it, ended ones included. */
  readonly inUse: boolean;
  /** True for images that the node needs and could not get again: they are never removed. */
  readonly isKept: boolean;
}

type NodeCri = {
  readonly runtime: Pick<Cri["runtime"], "listContainers" | "containerStatus">;
  readonly images: Pick<Cri["images"], "listImages" | "removeImage" | "imageStatus">;
};

/** Reads all images, the largest first. */
export async function listNodeImages({ runtime, images }: NodeCri, signal: AbortSignal): Promise<readonly NodeImage[]> {
  const { images: found } = await images.listImages(cri.ListImagesRequest.fromPartial({}), { signal });
  const used = await readUsedImages(runtime, signal);
  const mounted = await used.readMounted();
  const isUsed = (reference: string) => used.references.has(reference) || mounted.has(reference);
  return found
    .map(({ id, repoTags, repoDigests, size, pinned }) => ({
      id,
      names: repoTags,
      digests: repoDigests,
      sizeBytes: Number(size),
      inUse: [id, ...repoTags, ...repoDigests].some(isUsed),
      isKept: pinned || [PAUSE_IMAGE, DEMO_IMAGE].some((name) => repoTags.includes(name)),
    }))
    .toSorted((a, b) => b.sizeBytes - a.sizeBytes || (a.id < b.id ? -1 : 1));
}

/**
 * Removes an image with all of its names, by any of them or by its id, and returns it. Rejects with a CodedError: `no-image`,
 * `in-use` unless it is forced, `kept`.
 */
export async function removeNodeImage(
  { runtime, images }: NodeCri,
  image: string,
  { isForced, signal }: { isForced: boolean; signal: AbortSignal },
): Promise<NodeImage> {
  const { image: found } = await images.imageStatus(cri.ImageStatusRequest.fromPartial({ image: { image } }), {
    signal,
  });
  const all = await listNodeImages({ runtime, images }, signal);
  const listed = all.find(({ id }) => id === found?.id);
  if (listed === undefined)
    throw new CodedError("no-image", `${image}: there is no such image; see: nodelet images ls`);
  if (listed.isKept) throw new CodedError("kept", `${image}: the node needs it and could not get it again`);
  if (listed.inUse && !isForced) {
    throw new CodedError("in-use", `${image}: a container uses it; remove its pod first, or use --force`);
  }
  await removeAllNames(images, listed, signal);
  return listed;
}

/** Removes the images that nothing uses, and tells of each. Returns them. */
export async function pruneNodeImages(
  { runtime, images }: NodeCri,
  { onRemoved, signal }: { onRemoved: (image: NodeImage) => void; signal: AbortSignal },
): Promise<readonly NodeImage[]> {
  const unused = (await listNodeImages({ runtime, images }, signal)).filter(({ inUse, isKept }) => !inUse && !isKept);
  for (const image of unused) {
    await removeAllNames(images, image, signal);
    onRemoved(image);
  }
  return unused;
}

async function removeAllNames(images: NodeCri["images"], { id }: NodeImage, signal: AbortSignal): Promise<void> {
  await images.removeImage(cri.RemoveImageRequest.fromPartial({ image: { image: id } }), { signal });
}
