/** Where our default policy is not that of a real server, and why. */
interface PolicyDifference {
  /** `ClusterRole/name`, `RoleBinding/namespace/name`. */
  readonly key: string;
  /** `- x`: the real server has it and ours has not; `+ x`: the other way round; `+ all of it`. */
  readonly entries: readonly string[];
  readonly reason: string;
}

const TRUST_BUNDLES =
  "kube-apiserver has it behind the gate ClusterTrustBundle, which is off by default; ours serves them";
const POD_CERTIFICATES =
  "kube-apiserver has it behind the gate PodCertificateRequest, which is off by default; ours serves them";
const KUBEADM = "kubeadm makes it, and not kube-apiserver: nodes join ours with a bootstrap token, too";

export const POLICY_DIFFERENCES: readonly PolicyDifference[] = [
  { key: "ClusterRole/system:cluster-trust-bundle-discovery", entries: ["+ all of it"], reason: TRUST_BUNDLES },
  { key: "ClusterRoleBinding/system:cluster-trust-bundle-discovery", entries: ["+ all of it"], reason: TRUST_BUNDLES },
  {
    key: "ClusterRole/system:node",
    entries: [
      ...["get", "list", "watch"].map((verb) => `+ ${verb} clustertrustbundles.certificates.k8s.io`),
      ...["create", "get", "list", "watch"].map((verb) => `+ ${verb} podcertificaterequests.certificates.k8s.io`),
    ],
    reason: `${TRUST_BUNDLES}; ${POD_CERTIFICATES}`,
  },
  ...["ClusterRole", "ClusterRoleBinding"].map((kind) => ({
    key: `${kind}/system:controller:podcertificaterequestcleaner`,
    entries: ["+ all of it"],
    reason: POD_CERTIFICATES,
  })),
  { key: "ClusterRoleBinding/system:node-bootstrapper", entries: ["+ all of it"], reason: KUBEADM },
  {
    key: "ClusterRole/system:aggregated-metrics-reader",
    entries: ["+ all of it"],
    reason: "metrics-server brings it, whose resources ours serves itself",
  },
  {
    key: "ClusterRole/system:kubelet-api-admin",
    entries: ["+ * nodes/checkpoint", "+ * nodes/statusz"],
    reason:
      "what else the API of a node has: our API server calls nodes by this role, and kubeadm's as an administrator",
  },
  {
    key: "ClusterRoleBinding/system:kubelet-api-admin",
    entries: ["+ all of it"],
    reason: "our API server calls nodes as a user of this role, and of no group",
  },
  ...["nodeclient", "selfnodeclient"].map((approver) => ({
    key: `ClusterRoleBinding/system:certificates.k8s.io:certificatesigningrequests:${approver}`,
    entries: ["+ all of it"],
    reason: KUBEADM,
  })),
  ...["ClusterRole", "ClusterRoleBinding"].map((kind) => ({
    key: `${kind}/system:nodelet-network-policies`,
    entries: ["+ all of it"],
    reason: "our proxy enforces network policies, which upstream leaves to the network's own agent",
  })),
  {
    key: "RoleBinding/kube-system/system::leader-locking-kube-controller-manager",
    entries: ["- ServiceAccount/kube-system/leader-election-controller"],
    reason: "for coordinated leader election, which is not served here",
  },
];

/** What a real server has and ours does not carry: all of it comes of patches that a distribution made to it. */
export const NOT_CARRIED: readonly RegExp[] = [
  /\/system:controller:service-ca-cert-publisher$/,
  /:public-info-viewer$/,
];
