import type { PolicyRule } from "../../api/gen/types.ts";

const READ = ["get", "list", "watch"];

/**
 * The rules for every node. For the resources that the node authorizer subdivides they contain only what it leaves to
 * rules.
 */
export const NODE_RULES: readonly PolicyRule[] = [
  { verbs: ["create"], apiGroups: ["authentication.k8s.io"], resources: ["tokenreviews"] },
  {
    verbs: ["create"],
    apiGroups: ["authorization.k8s.io"],
    resources: ["localsubjectaccessreviews", "subjectaccessreviews"],
  },
  { verbs: READ, apiGroups: [""], resources: ["services"] },
  { verbs: ["create", "get", "list", "watch"], apiGroups: [""], resources: ["nodes"] },
  { verbs: ["patch", "update"], apiGroups: [""], resources: ["nodes/status"] },
  { verbs: ["patch", "update"], apiGroups: [""], resources: ["nodes"] },
  { verbs: ["create", "patch", "update"], apiGroups: ["", "events.k8s.io"], resources: ["events"] },
  { verbs: READ, apiGroups: [""], resources: ["pods"] },
  { verbs: ["create", "delete"], apiGroups: [""], resources: ["pods"] },
  { verbs: ["patch", "update"], apiGroups: [""], resources: ["pods/status"] },
  { verbs: ["create"], apiGroups: [""], resources: ["pods/eviction"] },
  { verbs: READ, apiGroups: [""], resources: ["configmaps", "secrets"] },
  { verbs: ["get"], apiGroups: [""], resources: ["persistentvolumeclaims", "persistentvolumes"] },
  { verbs: ["get"], apiGroups: [""], resources: ["endpoints"] },
  {
    verbs: ["create", "get", "list", "watch"],
    apiGroups: ["certificates.k8s.io"],
    resources: ["certificatesigningrequests"],
  },
  {
    verbs: ["create", "delete", "get", "patch", "update"],
    apiGroups: ["coordination.k8s.io"],
    resources: ["leases"],
  },
  { verbs: ["get"], apiGroups: ["storage.k8s.io"], resources: ["volumeattachments"] },
  { verbs: ["create"], apiGroups: [""], resources: ["serviceaccounts/token"] },
  { verbs: ["get", "patch", "update"], apiGroups: [""], resources: ["persistentvolumeclaims/status"] },
  { verbs: READ, apiGroups: ["storage.k8s.io"], resources: ["csidrivers"] },
  {
    verbs: ["create", "delete", "get", "patch", "update"],
    apiGroups: ["storage.k8s.io"],
    resources: ["csinodes"],
  },
  { verbs: READ, apiGroups: ["node.k8s.io"], resources: ["runtimeclasses"] },
  { verbs: ["get"], apiGroups: ["resource.k8s.io"], resources: ["resourceclaims"] },
  { verbs: ["deletecollection"], apiGroups: ["resource.k8s.io"], resources: ["resourceslices"] },
  { verbs: ["get"], apiGroups: [""], resources: ["serviceaccounts"] },
  { verbs: ["get", "list", "watch"], apiGroups: ["certificates.k8s.io"], resources: ["clustertrustbundles"] },
  {
    verbs: ["create", "get", "list", "watch"],
    apiGroups: ["certificates.k8s.io"],
    resources: ["podcertificaterequests"],
  },
];
