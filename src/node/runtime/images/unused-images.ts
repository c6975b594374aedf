import { type Clock, MINUTE } from "../../../base/clock.ts";
import { messageOf } from "../../../base/errors.ts";
import type { Log } from "../../../base/log.ts";
import type { Metrics } from "../../../base/metrics.ts";
import * as cri from "../../../cri/gen/cri-v1.ts";
import type { Cri } from "../../../cri/port.ts";
import { type ImageRecord, type ListedImage, rankImages, updateRecords } from "./garbage-plan.ts";
import type { ImageClaims } from "./image-claims.ts";
import { readSandboxImageId, readUsedImages } from "./used-images.ts";

/** Finds and removes the images that no container uses. */
export interface UnusedImages {
  look(signal: AbortSignal): Promise<Look>;
  /**
   * Removes images, and goes on after a failed removal. Rejects with AbortedError, and where the used images cannot be
   * read.
   */
  remove(seen: Pick<Look, "unused" | "readKept">, how: RemovalRule, signal: AbortSignal): Promise<Removal>;
  /** The record of an image from the last look; undefined for an image that was not there. */
  recordOf(imageId: string): ImageRecord | undefined;
}

/** One look at what is on the machine. */
export interface Look {
  /** Milliseconds of `Clock.monotonic`. */
  readonly at: number;
  readonly images: readonly ListedImage[];
  /** The unused images, in the order of their removal. */
  readonly unused: readonly ListedImage[];
  /** Reads the ids of images that stay all the same: those that containers mount, and that of sandboxes. Called before a removal. */
  readKept(): Promise<ReadonlySet<string>>;
}

/** Which images are removed, and the reason under which they are counted. */
interface RemovalRule {
  readonly reason: "age" | "space";
  /** The removal ends once so many bytes have been freed. Default: all images that may go are removed. */
  readonly enough?: bigint;
  mayGo(record: ImageRecord): boolean;
}

/** The outcome of a removal. `left`: the images that are still there. `freed`: bytes, as the runtime counts images. */
interface Removal {
  readonly left: readonly ListedImage[];
  readonly freed: bigint;
  readonly errors: readonly string[];
}

interface UnusedImagesDeps {
  readonly cri: {
    readonly runtime: Pick<Cri["runtime"], "listContainers" | "containerStatus" | "status">;
    readonly images: Pick<Cri["images"], "listImages" | "removeImage" | "imageStatus">;
  };
  readonly claims: Pick<ImageClaims, "claimedAt" | "remove">;
  /** Reads the names of the images that are never removed, beside those that the runtime pins. */
  readKeptNames(): Promise<ReadonlySet<string>>;
  /** Told the images that were on the machine at `listedAt`, in milliseconds since the epoch; all others are gone. */
  onListed(imageIds: readonly string[], listedAt: number): Promise<void>;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** The removal of a large image takes a runtime a while. */
const REMOVAL_TIMEOUT_MS = 2 * MINUTE;

/** Remembers when images were first seen, and when they were last seen in use. */
export function createUnusedImages(deps: UnusedImagesDeps): UnusedImages {
  const { clock, log, claims } = deps;
  const { images: imageService, runtime } = deps.cri;
  const collected = deps.metrics.counter(
    "kubelet_image_garbage_collected_total",
    "Total number of images garbage collected by the kubelet, whether through disk usage or image age.",
    ["reason"],
  );
  let records = new Map<string, ImageRecord>();

  /** Removes one image; false where it is needed after all. */
  const removeOne = async (image: ListedImage, reason: string, signal: AbortSignal): Promise<boolean> => {
    const { id: imageId, sizeBytes, runtimeHandler } = image;
    const request = cri.RemoveImageRequest.fromPartial({ image: { image: imageId, runtimeHandler } });
    const isRemoved = await claims.remove(image, async () => {
      log.info("Removing image to free bytes", { imageId, size: Number(sizeBytes), reason });
      await imageService.removeImage(request, { signal, timeoutMs: REMOVAL_TIMEOUT_MS });
    });
    if (!isRemoved) return false;
    records.delete(imageId);
    collected.add({ reason });
    return true;
  };

  return {
    async look(signal) {
      const listedAt = clock.now();
      const listed = await listImages(imageService, signal);
      const keptNames = await deps.readKeptNames();
      const isKept = ({ names }: ListedImage) => names.some((name) => keptNames.has(name));
      const images = listed.map((image) => (isKept(image) ? { ...image, isPinned: true } : image));
      const used = await readUsedImages(runtime, signal);
      const at = clock.monotonic();
      const isUsed = ({ id, names }: ListedImage) => [id, ...names].some((name) => used.references.has(name));
      const usedAt = (image: ListedImage) => (isUsed(image) ? at : claims.claimedAt(image.id));
      records = updateRecords(records, images, { now: at, usedAt });
      await deps.onListed(
        images.map(({ id }) => id),
        listedAt,
      );
      const readKept = async () => {
        const sandboxImage = await readSandboxImageId(deps.cri, signal);
        const mounted = await used.readMounted();
        for (const id of mounted) {
          const record = records.get(id);
          if (record !== undefined) records.set(id, { ...record, lastUsedAt: at });
        }
        return new Set([...mounted, ...(sandboxImage === undefined ? [] : [sandboxImage])]);
      };
      let kept: ReturnType<typeof readKept> | undefined;
      return {
        at,
        images,
        unused: rankImages(images, records).filter((image) => !isUsed(image)),
        async readKept() {
          kept ??= readKept();
          return await kept;
        },
      };
    },
    async remove({ unused, readKept }, { reason, enough, mayGo }, signal) {
      const left: ListedImage[] = [];
      const errors: string[] = [];
      let freed = 0n;
      for (const image of unused) {
        const record = records.get(image.id);
        const isEnough = enough !== undefined && freed >= enough;
        if (isEnough || record === undefined || !mayGo(record) || (await readKept()).has(image.id)) {
          left.push(image);
          continue;
        }
        try {
          if (await removeOne(image, reason, signal)) freed += image.sizeBytes;
          else left.push(image);
        } catch (error) {
          signal.throwIfAborted();
          errors.push(messageOf(error));
          left.push(image);
        }
      }
      return { left, freed, errors };
    },
    recordOf: (imageId) => records.get(imageId),
  };
}

async function listImages(service: Pick<Cri["images"], "listImages">, signal: AbortSignal): Promise<ListedImage[]> {
  const { images } = await service.listImages(cri.ListImagesRequest.fromPartial({}), { signal });
  return images.map(({ id, repoTags, repoDigests, size, pinned, spec }) => ({
    id,
    names: [...repoTags, ...repoDigests],
    sizeBytes: size,
    isPinned: pinned,
    runtimeHandler: spec?.runtimeHandler ?? "",
  }));
}
