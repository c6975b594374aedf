import type { Part } from "../../base/run-parts.ts";
import type { NodeAgentConfig } from "../../config/node-agent-config.ts";
import { createImageCollection, type ImageCollection } from "../runtime/images/garbage-collection.ts";
import { readImageDisk } from "../runtime/images/image-disk.ts";
import { createUnusedImages } from "../runtime/images/unused-images.ts";
import type { ImageParts } from "./images.ts";
import type { NodeAgentPorts } from "./node-agent-ports.ts";

/** Who removes images that nobody uses. */
export interface ImageCollectionParts {
  readonly collection: Pick<ImageCollection, "freeImages">;
  readonly parts: readonly Part[];
}

interface ImageCollectionPartsDeps {
  readonly ports: NodeAgentPorts;
  readonly images: Pick<ImageParts, "claims" | "prune">;
  /** Undefined without an API server: then the log alone tells. */
  readonly reporting:
    | { recordNodeEvent(event: { type: "Warning"; reason: string; message: string }): void }
    | undefined;
}

const DEFAULT_THRESHOLDS = { high: 85, low: 80 };

/** By the thresholds and ages of the configuration. */
export function composeImageCollection(
  { ports, images, reporting }: ImageCollectionPartsDeps,
  { kubelet }: NodeAgentConfig,
): ImageCollectionParts {
  const { host, cri, log, metrics } = ports;
  const { clock, machine } = host;
  const { claims } = images;
  const collection = createImageCollection(
    {
      clock,
      log,
      claims,
      unused: createUnusedImages({ cri, claims, clock, log, metrics, onListed: images.prune }),
      readDiskUsage: async (signal) => await readImageDisk({ images: cri.images, machine }, signal),
      recordNodeEvent: (event) => reporting?.recordNodeEvent(event),
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
