import type { ContainerImage } from "../../../api/gen/types.ts";
import { sleep, throwIfAborted } from "../../../base/abort.ts";
import type { Clock } from "../../../base/clock.ts";
import type { Log } from "../../../base/log.ts";
import type { Image } from "../../../cri/gen/cri-v1.ts";
import { createFailureLog } from "./failure-log.ts";
import { computeStatusImages } from "./status-images.ts";

/**
 * The images on the machine as the node's status names them. They are listed periodically, so that no heartbeat waits
 * for the list.
 */
export interface ImageInventory {
  run(signal: AbortSignal): Promise<void>;
  /** The images are undefined before the first list. After a list that fails, the last one stays. */
  images(): readonly ContainerImage[] | undefined;
}

interface ImageInventoryDeps {
  /** The function bounds its own duration. */
  listImages(signal: AbortSignal): Promise<readonly Image[]>;
  clock: Clock;
  log: Log;
}

/** The period is upstream's (pkg/kubelet/images/image_gc_manager.go). */
const PERIOD_MS = 30_000;
const FIRST_RETRY_MS = 1_000;

/** `maxImages` is `nodeStatusMaxImages`; a negative number means all. */
export function createImageInventory(
  { listImages, clock, log }: ImageInventoryDeps,
  { maxImages }: { readonly maxImages: number },
): ImageInventory {
  const failures = createFailureLog(log, "Listing images");
  let images: readonly ContainerImage[] | undefined;
  return {
    async run(signal) {
      let retryMs = FIRST_RETRY_MS;
      while (!signal.aborted) {
        try {
          images = computeStatusImages(await listImages(signal), maxImages);
          failures.succeeded();
          retryMs = FIRST_RETRY_MS;
          await sleep(clock, PERIOD_MS, signal);
        } catch (error) {
          throwIfAborted(signal);
          failures.failed(error);
          await sleep(clock, retryMs, signal);
          retryMs = Math.min(2 * retryMs, PERIOD_MS);
        }
      }
    },
    images: () => images,
  };
}
