import { linuxFiles } from "../../host/linux/files/linux-files.ts";
import { keepImage } from "../../node/runtime/images/kept-images.ts";
import type { Containerd } from "../containerd/start-containerd.ts";
import { buildImages } from "./build-images.ts";
import { DEMO_IMAGE, PAUSE_IMAGE } from "./image-references.ts";

/**
 * Builds and imports the pause and the demo image unless the store has them. Returns true when something had to be
 * built, which takes longer than everything else of a start. The archives are kept in `images`, and `keptImages` says that
 * the demo image stays: no registry has it. The pause image stays as that of sandboxes.
 */
export async function ensureImages(
  containerd: Containerd,
  { images, keptImages }: { readonly images: string; readonly keptImages: string },
): Promise<boolean> {
  const [listed] = await Promise.all([containerd.listImages(), keepImage(linuxFiles, keptImages, DEMO_IMAGE)]);
  const present = new Set(listed);
  if ([PAUSE_IMAGE, DEMO_IMAGE].every((reference) => present.has(reference))) return false;
  for (const image of await buildImages(images)) {
    if (!present.has(image.ref)) await containerd.importImage(image.tar);
  }
  return true;
}
