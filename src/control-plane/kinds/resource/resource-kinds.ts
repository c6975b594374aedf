import type { ResourceKind } from "../../ports/resource-kind.ts";
import { defineKind, type KindRow } from "../define-kind.ts";

/** kube-scheduler of 1.34 and later waits until it has listed these, before it places any pod. */
function defineRefused(row: Pick<KindRow, "kind" | "plural" | "namespaced" | "status" | "type">): ResourceKind {
  const refusal = "devices are not allocated by this control plane, so that none can be described or claimed";
  return defineKind({ ...row, group: "resource.k8s.io", strategy: { refusal } });
}

/** Dynamic resource allocation: served so that clients find none of them, rather than no such kind. */
export const RESOURCE_KINDS: readonly ResourceKind[] = [
  defineRefused({ kind: "DeviceClass", plural: "deviceclasses", namespaced: false }),
  // A container's reference to a claim has that name in core.
  defineRefused({ kind: "ResourceClaim", plural: "resourceclaims", status: true, type: "ResourceResourceClaim" }),
  defineRefused({ kind: "ResourceClaimTemplate", plural: "resourceclaimtemplates" }),
  defineRefused({ kind: "ResourceSlice", plural: "resourceslices", namespaced: false }),
];
