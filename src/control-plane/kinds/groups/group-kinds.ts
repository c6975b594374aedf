import type { ResourceKind } from "../../ports/resource-kind.ts";
import { defineKind } from "../define-kind.ts";
import { APPS_KINDS } from "./apps-kinds.ts";

const R = "rbac.authorization.k8s.io";
/** TEMPORARY. */
export const GROUP_KINDS: readonly ResourceKind[] = [
  ...APPS_KINDS,
  ...[
    ["Role", "roles", true],
    ["RoleBinding", "rolebindings", true],
    ["ClusterRole", "clusterroles", false],
    ["ClusterRoleBinding", "clusterrolebindings", false],
  ].map(([kind, plural, namespaced]) =>
    defineKind({
      group: R,
      kind: String(kind),
      plural: String(plural),
      namespaced: namespaced === true,
      strategy: { checkName: () => [] },
    }),
  ),
  defineKind({ group: "scheduling.k8s.io", kind: "PriorityClass", plural: "priorityclasses", namespaced: false }),
  defineKind({ group: "discovery.k8s.io", kind: "EndpointSlice", plural: "endpointslices" }),
  defineKind({ group: "coordination.k8s.io", kind: "Lease", plural: "leases" }),
  defineKind({ group: "storage.k8s.io", kind: "VolumeAttachment", plural: "volumeattachments", namespaced: false }),
  defineKind({ group: "storage.k8s.io", kind: "StorageClass", plural: "storageclasses", namespaced: false }),
  defineKind({ group: "storage.k8s.io", kind: "CSIDriver", plural: "csidrivers", namespaced: false }),
  defineKind({ group: "storage.k8s.io", kind: "CSINode", plural: "csinodes", namespaced: false }),
  defineKind({ group: "node.k8s.io", kind: "RuntimeClass", plural: "runtimeclasses", namespaced: false }),
  defineKind({ group: "policy", kind: "PodDisruptionBudget", plural: "poddisruptionbudgets", status: true }),
  defineKind({
    group: "certificates.k8s.io",
    kind: "CertificateSigningRequest",
    plural: "certificatesigningrequests",
    namespaced: false,
    status: true,
  }),
];
