import type { ContainerImage } from "../../../api/gen/types.ts";
import type { Image } from "../../../cri/gen/cri-v1.ts";

const MAX_NAMES = 5;

type ListedImage = Pick<Image, "id" | "repoDigests" | "repoTags" | "size">;

/** Returns the largest images, at most `maxImages` (negative: all), each with a few of its names, digests first. */
export function computeStatusImages(images: readonly ListedImage[], maxImages: number): ContainerImage[] {
  const sorted = images.toSorted((a, b) => {
    if (a.size !== b.size) return a.size > b.size ? -1 : 1;
    return a.id > b.id ? -1 : 1;
  });
  return sorted.slice(0, maxImages < 0 ? undefined : maxImages).map(({ repoDigests, repoTags, size }) => {
    const names = [...repoDigests, ...repoTags].slice(0, MAX_NAMES);
    return { ...(names.length > 0 && { names }), sizeBytes: Number(size) };
  });
}
