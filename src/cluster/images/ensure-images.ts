import type { Containerd } from "../containerd/start-containerd.ts";
import { buildImages } from "./build-images.ts";
import { DEMO_IMAGE, PAUSE_IMAGE } from "./image-references.ts";

/**
 * Builds and imports the pause and the demo image unless the store has them. Returns true when something had to be
 * built, which takes longer than everything else of a start. The archives are kept in `directory`.
 */
export async function ensureImages(containerd: Containerd, directory: string): Promise<boolean> {
  const present = new Set(await containerd.listImages());
  if ([PAUSE_IMAGE, DEMO_IMAGE].every((reference) => present.has(reference))) return false;
  for (const image of await buildImages(directory)) {
    if (!present.has(image.ref)) await containerd.importImage(image.tar);
  }
  return true;
}
