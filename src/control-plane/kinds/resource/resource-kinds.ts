import type { ResourceKind } from "../../ports/resource-kind.ts";
import { defineKind, type KindRow } from "../define-kind.ts";

/**
 * Defines a kind of which no objects can be created. kube-scheduler 1.34 and later lists these kinds before it places
 * any pod.
 */
function defineRefused(row: Pick<KindRow, "kind" | "plural" | "namespaced" | "status" | "type">): ResourceKind {
  const refusal = "devices are not allocated by this control plane, so that none can be described or claimed";
  return defineKind({ ...row, group: "resource.k8s.io", strategy: { refusal } });
}

/**
 * The kinds of dynamic resource allocation. They are served so that clients find an empty list, and not an unknown
 * kind.
 */
export const RESOURCE_KINDS: readonly ResourceKind[] = [
  defineRefused({ kind: "DeviceClass", plural: "deviceclasses", namespaced: false }),
  // The name without the prefix belongs to a container's reference to a claim in core.
  defineRefused({ kind: "ResourceClaim", plural: "resourceclaims", status: true, type: "ResourceResourceClaim" }),
  defineRefused({ kind: "ResourceClaimTemplate", plural: "resourceclaimtemplates" }),
  defineRefused({ kind: "ResourceSlice", plural: "resourceslices", namespaced: false }),
];
