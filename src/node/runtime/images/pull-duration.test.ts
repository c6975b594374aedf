import { expect, it } from "vitest";
import { createMetrics } from "../../../base/metrics.ts";
import { createPullObserver, imageSizeLabel } from "./pull-duration.ts";

const MEBIBYTE = 1024n ** 2n;

it.each([
  [0n, "N/A"],
  [1n, "0-10MB"],
  [10n * MEBIBYTE, "0-10MB"],
  [10n * MEBIBYTE + 1n, "10MB-100MB"],
  [1024n * MEBIBYTE, "500MB-1GB"],
  [1024n * MEBIBYTE + 1n, "1GB-5GB"],
  [99n * 1024n * MEBIBYTE, "60GB-100GB"],
  [101n * 1024n * MEBIBYTE, "GT100GB"],
])("%d bytes are %s", (bytes, label) => {
  expect(imageSizeLabel(bytes)).toBe(label);
});

it("a pull is observed by the size of what it brought", async () => {
  const metrics = createMetrics();
  createPullObserver(metrics)(7, 20n * MEBIBYTE);
  const page = await metrics.render();
  expect(page).toContain('kubelet_image_pull_duration_seconds_bucket{le="5",image_size_in_bytes="10MB-100MB"} 0');
  expect(page).toContain('kubelet_image_pull_duration_seconds_bucket{le="10",image_size_in_bytes="10MB-100MB"} 1');
});
