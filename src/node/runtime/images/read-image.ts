import * as cri from "../../../cri/gen/cri-v1.ts";
import type { Cri } from "../../../cri/port.ts";
import type { PresentImage } from "./image-outcome.ts";

/** An image on the machine. */
export interface ImageOnMachine extends PresentImage {
  readonly sizeBytes: bigint;
}

/** Reads an image from the runtime, by name or id; undefined where the runtime does not have it. */
export async function readImage(
  images: Pick<Cri["images"], "imageStatus">,
  image: string,
  signal: AbortSignal,
): Promise<ImageOnMachine | undefined> {
  const request = cri.ImageStatusRequest.fromPartial({ image: { image } });
  const { image: found } = await images.imageStatus(request, { signal });
  if (found === undefined) return undefined;
  return { imageRef: found.id, user: { uid: found.uid?.value, username: found.username }, sizeBytes: found.size };
}
