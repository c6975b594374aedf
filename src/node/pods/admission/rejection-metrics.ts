import type { Metrics } from "../../../base/metrics.ts";

/**
 * Upstream's `admissionRejectionReasons` (pkg/kubelet/kubelet.go), which bound the labels; any other reason is counted
 * as one.
 */
const REASONS: ReadonlySet<string> = new Set([
  "AppArmor",
  "Evicted",
  "InitContainerRestartPolicyForbidden",
  "InvalidNodeInfo",
  "NodeShutdown",
  "OutOfcpu",
  "OutOfephemeral-storage",
  "OutOfmemory",
  "OutOfpods",
  "PodFeatureUnsupported",
  "PodLevelResourcesNotSupported",
  "PodOSNotSupported",
  "PodOSSelectorNodeLabelDoesNotMatch",
  "SupplementalGroupsPolicyNotSupported",
  "SysctlForbidden",
  "TopologyAffinityError",
  "UnexpectedAdmissionError",
  "UnexpectedPredicateFailureType",
  "UnknownReason",
  "VolumeAttachmentLimitExceeded",
  "node(s) had taints that the pod didn't tolerate",
]);

/** Counts pods that are refused, by reason, in `kubelet_admission_rejections_total`. */
export function createRejectionCounter(metrics: Metrics): (reason: string) => void {
  const rejections = metrics.counter(
    "kubelet_admission_rejections_total",
    "Cumulative number pod admission rejections by the Kubelet.",
    ["reason"],
  );
  return (reason) => rejections.add({ reason: labelOf(reason) });
}

function labelOf(reason: string): string {
  if (REASONS.has(reason)) return reason;
  return reason.startsWith("OutOf") ? "OutOfExtendedResources" : "Other";
}
