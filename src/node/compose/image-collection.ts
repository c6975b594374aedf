import type { Part } from "../../base/run-parts.ts";
import { createImageCollection, type ImageCollection } from "../runtime/images/garbage-collection.ts";
import { readImageDisk } from "../runtime/images/image-disk.ts";
import { readKeptImages } from "../runtime/images/kept-images.ts";
import { createUnusedImages } from "../runtime/images/unused-images.ts";
import type { Foundation } from "./foundation.ts";
import type { Reporting } from "./reporting.ts";
import type { RuntimeParts } from "./runtime.ts";

/** The removal of images that no container uses. */
export interface ImageCollectionParts {
  readonly collection: Pick<ImageCollection, "freeImages">;
  readonly parts: readonly Part[];
}

interface ImageCollectionNeighbours {
  readonly runtime: RuntimeParts;
  readonly reporting: Reporting;
}

const DEFAULT_THRESHOLDS = { high: 85, low: 80 };

/** By the thresholds and ages of the configuration. */
export function composeImageCollection(
  { ports, config }: Foundation,
  { runtime, reporting }: ImageCollectionNeighbours,
): ImageCollectionParts {
  const { host, cri, log, metrics } = ports;
  const { clock, machine } = host;
  const { kubelet } = config;
  const { claims, prune } = runtime.images;
  const readKeptNames = async () => await readKeptImages(host.files, config.keptImagesDirectory);
  const collection = createImageCollection(
    {
      clock,
      log,
      tracing: ports.tracing,
      claims,
      unused: createUnusedImages({ cri, claims, clock, log, metrics, readKeptNames, onListed: prune }),
      readDiskUsage: async (signal) => await readImageDisk({ images: cri.images, machine }, signal),
      recordNodeEvent: reporting.recordNodeEvent,
    },
    {
      highThresholdPercent: kubelet.imageGCHighThresholdPercent ?? DEFAULT_THRESHOLDS.high,
      lowThresholdPercent: kubelet.imageGCLowThresholdPercent ?? DEFAULT_THRESHOLDS.low,
      minAgeMs: kubelet.imageMinimumGCAge,
      maxAgeMs: kubelet.imageMaximumGCAge,
    },
  );
  return { collection, parts: [{ name: "image collection", run: collection.run }] };
}
