import { CodedError } from "../../base/errors.ts";
import * as cri from "../../cri/gen/cri-v1.ts";
import type { Cri } from "../../cri/port.ts";
import { linuxFiles } from "../../host/linux/files/linux-files.ts";
import { readKeptImages, stopKeepingImage } from "../../node/runtime/images/kept-images.ts";
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
  /** True for images that stay when the disk is short of space, and at a prune. */
  readonly isKept: boolean;
}

/** The images of a node, and the names of those that stay. */
export interface ImageStore {
  readonly runtime: Pick<Cri["runtime"], "listContainers" | "containerStatus">;
  readonly images: Pick<Cri["images"], "listImages" | "removeImage" | "imageStatus">;
  /** The directory that names the images which stay; see `keepImage`. */
  readonly keptImages: string;
}

/** The images that the node needs and could not get again: they are not removed even by force. */
const NEEDED: readonly string[] = [PAUSE_IMAGE, DEMO_IMAGE];

/** Reads all images, the largest first. */
export async function listNodeImages(
  { runtime, images, keptImages }: ImageStore,
  signal: AbortSignal,
): Promise<readonly NodeImage[]> {
  const { images: found } = await images.listImages(cri.ListImagesRequest.fromPartial({}), { signal });
  const used = await readUsedImages(runtime, signal);
  const mounted = await used.readMounted();
  const kept = new Set([...NEEDED, ...(await readKeptImages(linuxFiles, keptImages))]);
  const isUsed = (reference: string) => used.references.has(reference) || mounted.has(reference);
  return found
    .map(({ id, repoTags, repoDigests, size, pinned }) => ({
      id,
      names: repoTags,
      digests: repoDigests,
      sizeBytes: Number(size),
      inUse: [id, ...repoTags, ...repoDigests].some(isUsed),
      isKept: pinned || [...repoTags, ...repoDigests].some((name) => kept.has(name)),
    }))
    .toSorted((a, b) => b.sizeBytes - a.sizeBytes || (a.id < b.id ? -1 : 1));
}

/**
 * Removes an image with all of its names, by any of them or by its id, and returns it. Rejects with a CodedError: `no-image`,
 * `in-use` unless it is forced, `kept` where the node needs it.
 */
export async function removeNodeImage(
  store: ImageStore,
  image: string,
  { isForced, signal }: { isForced: boolean; signal: AbortSignal },
): Promise<NodeImage> {
  const { image: found } = await store.images.imageStatus(cri.ImageStatusRequest.fromPartial({ image: { image } }), {
    signal,
  });
  const all = await listNodeImages(store, signal);
  const listed = all.find(({ id }) => id === found?.id);
  if (listed === undefined)
    throw new CodedError("no-image", `${image}: there is no such image; see: nodelet images ls`);
  if (listed.names.some((name) => NEEDED.includes(name)))
    throw new CodedError("kept", `${image}: the node needs it and could not get it again`);
  if (listed.inUse && !isForced) {
    throw new CodedError("in-use", `${image}: a container uses it; remove its pod first, or use --force`);
  }
  await removeAllNames(store, listed, signal);
  return listed;
}

/** Removes the images that nothing uses and nobody wants to keep, and tells of each. Returns them. */
export async function pruneNodeImages(
  store: ImageStore,
  { onRemoved, signal }: { onRemoved: (image: NodeImage) => void; signal: AbortSignal },
): Promise<readonly NodeImage[]> {
  const unused = (await listNodeImages(store, signal)).filter(({ inUse, isKept }) => !inUse && !isKept);
  for (const image of unused) {
    await removeAllNames(store, image, signal);
    onRemoved(image);
  }
  return unused;
}

async function removeAllNames(store: ImageStore, image: NodeImage, signal: AbortSignal): Promise<void> {
  const { id, names, digests } = image;
  await store.images.removeImage(cri.RemoveImageRequest.fromPartial({ image: { image: id } }), { signal });
  for (const name of [...names, ...digests]) await stopKeepingImage(linuxFiles, store.keptImages, name);
}
