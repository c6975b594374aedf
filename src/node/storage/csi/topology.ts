import { checkLabelValue, checkQualifiedName } from "../../../api/validation/names.ts";

type Labels = Readonly<Record<string, string>>;

/** Labels of Kubernetes that a node may give itself (k8s.io/kubelet/pkg/apis/well_known_labels.go). */
const NODE_LABELS: ReadonlySet<string> = new Set([
  "kubernetes.io/hostname",
  "kubernetes.io/os",
  "kubernetes.io/arch",
  "beta.kubernetes.io/os",
  "beta.kubernetes.io/arch",
  "node.kubernetes.io/instance-type",
  "beta.kubernetes.io/instance-type",
  "topology.kubernetes.io/zone",
  "topology.kubernetes.io/region",
  "failure-domain.beta.kubernetes.io/zone",
  "failure-domain.beta.kubernetes.io/region",
]);

/**
 * Why a driver's topology cannot become labels of the node; undefined where it can. The labels travel with the node's
 * status: one that the server refuses would keep the whole status from it, and all pods from the node.
 */
export function findTopologyProblem(topology: Labels): string | undefined {
  for (const [key, value] of Object.entries(topology)) {
    const problems = [...checkQualifiedName(key), ...checkLabelValue(value)];
    if (problems.length > 0) {
      const label = `${JSON.stringify(key)}:${JSON.stringify(value)}`;
      return `driver reported the invalid topology label ${label}: ${problems.join("; ")}`;
    }
    if (!isNodesToSet(key)) return `driver reported the topology label ${JSON.stringify(key)}, which no node may set`;
  }
  return undefined;
}

/** The first label that has another value already, in upstream's words (nodeinfomanager.go, updateTopologyLabels). */
export function findTopologyCollision(topology: Labels, existing: Labels): string | undefined {
  for (const [key, value] of Object.entries(topology)) {
    const current = Object.hasOwn(existing, key) ? existing[key] : undefined;
    if (current === undefined || current === value) continue;
    const name = JSON.stringify(key);
    const values = `driver reported ${name}:${JSON.stringify(value)} but existing label is ${name}:${JSON.stringify(current)}`;
    return `detected topology value collision: ${values}`;
  }
  return undefined;
}

/** The API server refuses others from a node (plugin/pkg/admission/noderestriction). */
function isNodesToSet(label: string): boolean {
  const slash = label.indexOf("/");
  const namespace = slash < 0 ? "" : label.slice(0, slash);
  if (isWithin(namespace, "node-restriction.kubernetes.io")) return false;
  if (!isWithin(namespace, "kubernetes.io") && !isWithin(namespace, "k8s.io")) return true;
  const isNodes = isWithin(namespace, "kubelet.kubernetes.io") || isWithin(namespace, "node.kubernetes.io");
  return isNodes || NODE_LABELS.has(label);
}

function isWithin(namespace: string, domain: string): boolean {
  return namespace === domain || namespace.endsWith(`.${domain}`);
}
