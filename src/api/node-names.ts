/** Names that Kubernetes fixes for nodes: labels, taints and annotations that several parts of a cluster must agree on. */

/** The labels that describe a node. */
export const NODE_LABELS = {
  hostname: "kubernetes.io/hostname",
  os: "kubernetes.io/os",
  architecture: "kubernetes.io/arch",
  instanceType: "node.kubernetes.io/instance-type",
  zone: "topology.kubernetes.io/zone",
  region: "topology.kubernetes.io/region",
} as const;

/** Names of some of these labels before 1.14 and 1.17, which old selectors still use. */
export const BETA_NODE_LABELS = {
  os: "beta.kubernetes.io/os",
  architecture: "beta.kubernetes.io/arch",
  instanceType: "beta.kubernetes.io/instance-type",
  zone: "failure-domain.beta.kubernetes.io/zone",
  region: "failure-domain.beta.kubernetes.io/region",
} as const;

const KUBELET_LABELS: ReadonlySet<string> = new Set([
  ...Object.values(NODE_LABELS),
  ...Object.values(BETA_NODE_LABELS),
]);
const KUBELET_DOMAINS = ["kubelet.kubernetes.io", "node.kubernetes.io"];
const KUBERNETES_DOMAINS = ["kubernetes.io", "k8s.io"];

/**
 * True for a label that a node may give itself: any label outside of Kubernetes' domains, and those of Kubernetes that
 * belong to a kubelet (`k8s.io/kubelet/pkg/apis/well_known_labels.go`, `plugin/pkg/admission/noderestriction`). A label
 * of the domain `node-restriction.kubernetes.io` is not allowed: such labels are an administrator's.
 */
export function mayNodeSetLabel(label: string): boolean {
  const slash = label.indexOf("/");
  const domain = slash < 0 ? "" : label.slice(0, slash);
  if (!isWithin(domain, KUBERNETES_DOMAINS)) return true;
  return KUBELET_LABELS.has(label) || isWithin(domain, KUBELET_DOMAINS);
}

function isWithin(domain: string, parents: readonly string[]): boolean {
  return parents.some((parent) => domain === parent || domain.endsWith(`.${parent}`));
}

/** Keys of taints that tell a state of the node (`k8s.io/api/core/v1/well_known_taints.go`). */
export const NODE_TAINTS = {
  notReady: "node.kubernetes.io/not-ready",
  unreachable: "node.kubernetes.io/unreachable",
  unschedulable: "node.kubernetes.io/unschedulable",
  memoryPressure: "node.kubernetes.io/memory-pressure",
  diskPressure: "node.kubernetes.io/disk-pressure",
  pidPressure: "node.kubernetes.io/pid-pressure",
  networkUnavailable: "node.kubernetes.io/network-unavailable",
  outOfService: "node.kubernetes.io/out-of-service",
} as const;

/**
 * The annotation on a node whose volumes the attach-detach controller attaches; a node without it attaches them itself.
 */
export const CONTROLLER_ATTACH_DETACH_ANNOTATION = "volumes.kubernetes.io/controller-managed-attach-detach";
