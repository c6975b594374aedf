import { readContainerdSettings } from "../../../cri/containerd-settings.ts";
import * as cri from "../../../cri/gen/cri-v1.ts";
import { type Cri, isCriError } from "../../../cri/port.ts";
import { readImage } from "./read-image.ts";

/** The images that containers use, as the runtime tells. */
interface UsedImages {
  /** The images that containers were made of: ids, or digests where the runtime tells no ids. */
  readonly references: ReadonlySet<string>;
  /** Reads the images that containers mount. It takes a call for each container, so it is called only where it matters. */
  readMounted(): Promise<ReadonlySet<string>>;
}

/** Reads the images of all containers, ended ones included, as upstream: an ended container may start again. */
export async function readUsedImages(runtime: RuntimeCalls, signal: AbortSignal): Promise<UsedImages> {
  const { containers } = await runtime.listContainers(cri.ListContainersRequest.fromPartial({}), { signal });
  const references = containers.flatMap(({ imageId, imageRef, image }) =>
    [imageId, imageRef, imageId || imageRef ? "" : (image?.image ?? "")].filter((reference) => reference !== ""),
  );
  return {
    references: new Set(references),
    async readMounted() {
      const mounted = new Set<string>();
      for (const { id } of containers) {
        for (const image of await readMountedBy(runtime, id, signal)) mounted.add(image);
      }
      return mounted;
    },
  };
}

type RuntimeCalls = Pick<Cri["runtime"], "listContainers" | "containerStatus">;

async function readMountedBy(runtime: RuntimeCalls, containerId: string, signal: AbortSignal): Promise<string[]> {
  try {
    const { status } = await runtime.containerStatus({ containerId, verbose: false }, { signal });
    return (status?.mounts ?? []).flatMap(({ image }) => image?.image || []);
  } catch (error) {
    // The container was removed meanwhile.
    if (isCriError(error, "not-found")) return [];
    throw error;
  }
}

/**
 * The id of the image that sandboxes are made of, where the runtime tells which that is. containerd before 1.7.3 does
 * not pin it, and a node without a registry could start no pod without it.
 */
export async function readSandboxImageId(
  { runtime, images }: { runtime: Pick<Cri["runtime"], "status">; images: Pick<Cri["images"], "imageStatus"> },
  signal: AbortSignal,
): Promise<string | undefined> {
  const name = (await readContainerdSettings(runtime, { signal }))?.["sandboxImage"];
  return typeof name === "string" && name !== "" ? (await readImage(images, name, signal))?.imageRef : undefined;
}
