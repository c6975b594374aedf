import { defaultImagePullPolicy } from "../../../../api/image-reference.ts";
import type { VolumePlugin } from "../volume-plugin.ts";

/** Files of an image (KEP-4639). The runtime mounts them, from what is pulled before the container is made. */
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
