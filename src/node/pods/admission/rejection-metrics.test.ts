import { expect, it } from "vitest";
import { createMetrics } from "../../../base/metrics.ts";
import { createRejectionCounter } from "./rejection-metrics.ts";

it.each([
  ["OutOfcpu", "OutOfcpu"],
  ["OutOfpods", "OutOfpods"],
  ["OutOfexample.com/widget", "OutOfExtendedResources"],
  ["SysctlForbidden", "SysctlForbidden"],
  ["NodeAffinity", "Other"],
  ["UnsupportedFeature", "Other"],
])("a pod refused for %s is counted as %s", async (reason, label) => {
  const metrics = createMetrics();
  createRejectionCounter(metrics)(reason);
  expect(await metrics.render()).toContain(`kubelet_admission_rejections_total{reason="${label}"} 1`);
});
