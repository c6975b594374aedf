import type { Metrics } from "../base/metrics.ts";
import { FEATURE_GATES, type FeatureGate } from "./feature-gate-table.ts";
import type { FeatureGates } from "./feature-gates.ts";
import { KUBELET_VERSION } from "./kubelet-version.ts";

/**
 * Declares the series by which each program of Kubernetes reports its build and its feature gates. `platform` is in
 * Go's form (`linux/amd64`). Upstream also reports the older version that it emulates; this program emulates none.
 */
export function declareBuildSeries(metrics: Metrics, platform: string, gates: FeatureGates): void {
  const [major = "", minor = ""] = KUBELET_VERSION.slice(1).split(".");
  const version = `${major}.${minor}`;
  metrics
    .gauge(
      "kubernetes_build_info",
      "A metric with a constant '1' value labeled by major, minor, git version, git commit, git tree state, build date, " +
        "Go version, and compiler from which Kubernetes was built, and platform on which it is running.",
      [
        ...["major", "minor", "git_version", "git_commit", "git_tree_state", "build_date"],
        ...["go_version", "compiler", "platform"],
      ],
    )
    // The program has no Go in it, so these are the same words as in the control plane's /version.
    .set(1, {
      ...{ major, minor, git_version: KUBELET_VERSION, git_commit: "", git_tree_state: "", build_date: "" },
      ...{ go_version: "none", compiler: "nodelet", platform },
    });
  metrics
    .gauge(
      "version_info",
      "Provides the compatibility version info of the component. The component label is the name of the component, " +
        "usually kube, but is relevant for aggregated-apiservers.",
      ["component", "binary", "emulation", "min_compat"],
    )
    .set(1, { component: "kube", binary: version, emulation: version, min_compat: `${major}.${Number(minor) - 1}` });
  declareFeatures(metrics, gates);
}

function declareFeatures(metrics: Metrics, gates: FeatureGates): void {
  const features = metrics.gauge(
    "kubernetes_feature_enabled",
    "This metric records the data about the stage and enablement of a k8s feature.",
    ["name", "stage"],
  );
  const values: Readonly<Record<string, boolean>> = gates;
  for (const [name, { stage }] of Object.entries<FeatureGate>(FEATURE_GATES)) {
    // A name that is only accepted for the sake of older configurations is no feature.
    if (stage === "REMOVED") continue;
    features.set(values[name] === true ? 1 : 0, { name, stage: stage === "GA" ? "" : stage });
  }
}
