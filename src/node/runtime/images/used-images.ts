import { isRecord } from "../../../api/object.ts";
import * as cri from "../../../cri/gen/cri-v1.ts";
import { type Cri, isCriError } from "../../../cri/port.ts";
import { readImage } from "./read-image.ts";

/** What containers use, asked of the runtime. */
interface UsedImages {
  /** What they were made of: ids, or digests where the runtime tells no ids. */
  readonly references: ReadonlySet<string>;
  /** What they mount as volumes; a call for each container, so only asked where it matters. */
  readMounted(): Promise<ReadonlySet<string>>;
}

/** Of every container, ended ones too, as upstream has it: one may start again, and its image would be missed. */
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
    // It went meanwhile.
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
  const { info } = await runtime.status({ verbose: true }, { signal });
  const name = findSandboxImage(info["config"]);
  return name === undefined ? undefined : (await readImage(images, name, signal))?.imageRef;
}

/** `config` is containerd's own, as JSON; other runtimes have none, and pin their image. */
function findSandboxImage(config: string | undefined): string | undefined {
  if (config === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(config);
    const name = isRecord(value) ? value["sandboxImage"] : undefined;
    return typeof name === "string" && name !== "" ? name : undefined;
  } catch {
    return undefined;
  }
}
