import { defaultImagePullPolicy } from "../../../../api/image-reference.ts";
import type { VolumePlugin } from "../volume-plugin.ts";

/** Volumes that are images (KEP-4639). The image is pulled before the container is made, and the runtime mounts it. */
export function createImageVolumePlugin(): VolumePlugin {
  return {
    name: "kubernetes.io/image",
    supports: (source) => source.kind === "pod" && source.volume.image !== undefined,
    async setUp({ source }) {
      const { reference = "", pullPolicy } = (source.kind === "pod" ? source.volume.image : undefined) ?? {};
      const policy = pullPolicy || defaultImagePullPolicy(reference);
      return { volume: { kind: "image", image: reference, pullPolicy: policy }, finished: Promise.resolve() };
    },
  };
}
