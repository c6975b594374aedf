import { mayNodeSetLabel } from "../../api/node-names.ts";
import { type KubeObject, typed } from "../../api/object.ts";
import type { NodeRequest } from "./node-request.ts";
import { refusal } from "./refusal.ts";
import { isSameValue } from "./same-value.ts";

/**
 * Lets a node write its own Node, except for the fields that would draw workloads to it: taints, labels that are not
 * the kubelet's, owners.
 */
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

/** The added, changed and removed labels that the node may not touch, sorted. */
function forbiddenChanges(object: KubeObject, current: KubeObject | undefined): string[] {
  const next = object.metadata.labels ?? {};
  const before = current?.metadata.labels ?? {};
  const keys = new Set([...Object.keys(next), ...Object.keys(before)]);
  return [...keys].filter((key) => next[key] !== before[key] && !mayNodeSetLabel(key)).sort();
}
