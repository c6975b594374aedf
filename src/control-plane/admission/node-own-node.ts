import { type KubeObject, typed } from "../../api/object.ts";
import type { NodeRequest } from "./node-request.ts";
import { refusal } from "./refusal.ts";
import { isSameValue } from "./same-value.ts";

/** Labels of Kubernetes that a node may give itself. */
const KUBELET_LABELS = new Set([
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
const KUBELET_NAMESPACES = ["kubelet.kubernetes.io", "node.kubernetes.io"];
const KUBERNETES_NAMESPACES = ["kubernetes.io", "k8s.io"];
const RESTRICTED_NAMESPACES = ["node-restriction.kubernetes.io"];

/** Itself, without what would draw workloads to it: taints, labels that are not the kubelet's, owners. */
export function restrictNode({ request, node }: NodeRequest): void {
  const { operation, object, current } = request;
  const name = request.name || (object?.metadata.name ?? "");
  if (name !== node) throw refusal(request, `node "${node}" is not allowed to modify node "${name}"`);
  if (object === undefined) return;
  const spec = typed("Node", object).spec ?? {};
  if (operation === "CREATE") {
    if (spec.configSource !== undefined) {
      throw refusal(request, `node "${node}" is not allowed to create pods with a non-nil configSource`);
    }
    const labels = forbiddenChanges(object, undefined);
    if (labels.length === 0) return;
    throw refusal(request, `node "${node}" is not allowed to set the following labels: ${labels.join(", ")}`);
  }
  if (operation !== "UPDATE" || current === undefined) return;
  const before = typed("Node", current).spec ?? {};
  if (spec.configSource !== undefined && !isSameValue(spec.configSource, before.configSource)) {
    throw refusal(request, `node "${node}" is not allowed to update configSource to a new non-nil configSource`);
  }
  if (!isSameValue(spec.taints ?? [], before.taints ?? [])) {
    throw refusal(request, `node "${node}" is not allowed to modify taints`);
  }
  if (!isSameValue(object.metadata.ownerReferences ?? [], current.metadata.ownerReferences ?? [])) {
    throw refusal(request, `node "${node}" is not allowed to modify ownerReferences`);
  }
  const labels = forbiddenChanges(object, current);
  if (labels.length > 0) throw refusal(request, `is not allowed to modify labels: ${labels.join(", ")}`);
}

/** The labels that are added, changed or taken away and are not the node's to touch, sorted. */
function forbiddenChanges(object: KubeObject, current: KubeObject | undefined): string[] {
  const next = object.metadata.labels ?? {};
  const before = current?.metadata.labels ?? {};
  const keys = new Set([...Object.keys(next), ...Object.keys(before)]);
  return [...keys].filter((key) => next[key] !== before[key] && isForbidden(key)).sort();
}

function isForbidden(label: string): boolean {
  const slash = label.indexOf("/");
  const namespace = slash < 0 ? "" : label.slice(0, slash);
  if (isWithin(namespace, RESTRICTED_NAMESPACES)) return true;
  if (!isWithin(namespace, KUBERNETES_NAMESPACES)) return false;
  return !KUBELET_LABELS.has(label) && !isWithin(namespace, KUBELET_NAMESPACES);
}

function isWithin(namespace: string, domains: readonly string[]): boolean {
  return domains.some((domain) => namespace === domain || namespace.endsWith(`.${domain}`));
}
