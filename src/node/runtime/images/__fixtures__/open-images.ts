import type { Clock } from "../../../../base/clock.ts";
import { createMetrics, type Metrics } from "../../../../base/metrics.ts";
import { createImageClaims } from "../image-claims.ts";
import type { ImageEnsurerDeps } from "../image-ensurer.ts";
import { createPullProgress } from "../pull-progress.ts";

/** What an image ensurer needs on a node where every pod may use every image, and no credentials are to be had. */
export function openImages({
  clock,
  metrics = createMetrics(),
}: {
  clock: Clock;
  metrics?: Metrics;
}): Omit<ImageEnsurerDeps, "images" | "timeline"> {
  return {
    clock,
    metrics,
    claims: createImageClaims({ clock }),
    progress: createPullProgress({ clock, listDownloads: undefined }),
    records: undefined,
    pullSecrets: async () => ({ secrets: [], missing: [] }),
    nodeEntries: async () => [],
    providedCredentials: undefined,
  };
}
