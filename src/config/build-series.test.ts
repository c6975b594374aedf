import { expect, it } from "vitest";
import { createMetrics } from "../base/metrics.ts";
import { declareBuildSeries } from "./build-series.ts";
import { resolveFeatureGates } from "./feature-gates.ts";
import { KUBELET_VERSION } from "./kubelet-version.ts";

it("tells the version, and which features are on", async () => {
  const metrics = createMetrics();
  const { gates } = resolveFeatureGates({ NodeSwap: true, SELinuxMount: false });
  declareBuildSeries(metrics, "linux/arm64", gates);
  const lines = (await metrics.render()).split("\n");
  const [major = "", minor = ""] = KUBELET_VERSION.slice(1).split(".");
  const info = lines.find((line) => line.startsWith("kubernetes_build_info{"));
  expect(info).toContain(`major="${major}",minor="${minor}",git_version="${KUBELET_VERSION}"`);
  expect(info).toMatch(/platform="linux\/arm64"} 1$/);
  expect(lines).toContain('kubernetes_feature_enabled{name="NodeSwap",stage=""} 1');
  expect(lines).toContain('kubernetes_feature_enabled{name="SELinuxMount",stage="BETA"} 0');
  // Accepted, and no feature any more.
  expect(lines.join("\n")).not.toContain('name="CPUManager"');
});
