import type { Metrics } from "../../../base/metrics.ts";

/** Takes how long a pull lasted with its wait in line, and how large the image is; 0 bytes: nobody knows. */
type PullObserver = (seconds: number, sizeBytes: bigint) => void;

const BUCKETS = [1, 5, 10, 20, 30, 60, 120, 180, 240, 300, 360, 480, 600, 900, 1200, 1800, 2700, 3600];
const MEBIBYTE = 1024n ** 2n;
const GIBIBYTE = 1024n ** 3n;

/** Upstream's labels (`GetImageSizeBucket` of pkg/kubelet/metrics/metrics.go), by what an image is larger than; largest first. */
const SIZES: ReadonlyArray<readonly [bigint, string]> = [
  [100n * GIBIBYTE, "GT100GB"],
  [60n * GIBIBYTE, "60GB-100GB"],
  [40n * GIBIBYTE, "40GB-60GB"],
  [30n * GIBIBYTE, "30GB-40GB"],
  [20n * GIBIBYTE, "20GB-30GB"],
  [10n * GIBIBYTE, "10GB-20GB"],
  [5n * GIBIBYTE, "5GB-10GB"],
  [GIBIBYTE, "1GB-5GB"],
  [500n * MEBIBYTE, "500MB-1GB"],
  [100n * MEBIBYTE, "100MB-500MB"],
  [10n * MEBIBYTE, "10MB-100MB"],
  [0n, "0-10MB"],
];

/** `kubelet_image_pull_duration_seconds`, of pulls that brought an image. */
export function createPullObserver(metrics: Metrics): PullObserver {
  const series = metrics.histogram("kubelet_image_pull_duration_seconds", "Duration in seconds to pull an image.", {
    labels: ["image_size_in_bytes"],
    buckets: BUCKETS,
  });
  return (seconds, sizeBytes) => series.observe(seconds, { image_size_in_bytes: imageSizeLabel(sizeBytes) });
}

/** Which of upstream's sizes it is. */
export function imageSizeLabel(sizeBytes: bigint): string {
  return SIZES.find(([bytes]) => sizeBytes > bytes)?.[1] ?? "N/A";
}
