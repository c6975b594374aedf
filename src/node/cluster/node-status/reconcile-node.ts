import type { Node, NodeStatus } from "../../../api/gen/types.ts";
import { BETA_NODE_LABELS, CONTROLLER_ATTACH_DETACH_ANNOTATION, NODE_LABELS } from "../../../api/node-names.ts";
import { isExtendedResource, isHugepagesResource } from "../../resources/capacity/node-capacity.ts";

/**
 * The labels that follow the node at each start. Other labels from the registration belong to an administrator from
 * then on.
 */
const DEFAULT_LABELS: readonly string[] = [
  ...Object.values(NODE_LABELS),
  BETA_NODE_LABELS.zone,
  BETA_NODE_LABELS.region,
  BETA_NODE_LABELS.instanceType,
];

/**
 * Computes the existing node as it should be now that the node agent starts anew: default labels, the annotation about
 * attaching volumes, extended resources at 0 until their providers report them again, huge pages as the kernel has
 * them. Everything else belongs to the heartbeat or is not the node's to change (upstream: tryRegisterWithAPIServer).
 */
export function reconcileExistingNode(
  initial: Node,
  existing: Node,
  { resetExtendedResources }: { readonly resetExtendedResources: boolean },
): Node {
  const { labels, annotations } = existing.metadata ?? {};
  const status = resetExtendedResources ? withoutExtendedResources(existing.status) : { ...existing.status };
  return {
    ...existing,
    metadata: {
      ...existing.metadata,
      labels: reconcileLabels(initial.metadata?.labels ?? {}, labels ?? {}),
      annotations: reconcileAnnotation(initial.metadata?.annotations ?? {}, annotations ?? {}),
    },
    status: reconcileHugepages(initial.status ?? {}, status),
  };
}

function reconcileLabels(
  initial: Readonly<Record<string, string>>,
  existing: Readonly<Record<string, string>>,
): Record<string, string> {
  const labels = new Map(Object.entries(existing));
  for (const name of DEFAULT_LABELS) {
    const value = initial[name];
    if (value === "") labels.delete(name);
    else if (value !== undefined) labels.set(name, value);
  }
  return Object.fromEntries(labels);
}

function reconcileAnnotation(
  initial: Readonly<Record<string, string>>,
  existing: Readonly<Record<string, string>>,
): Record<string, string> {
  const { [CONTROLLER_ATTACH_DETACH_ANNOTATION]: _, ...others } = existing;
  const value = initial[CONTROLLER_ATTACH_DETACH_ANNOTATION];
  return value === undefined ? others : { ...others, [CONTROLLER_ATTACH_DETACH_ANNOTATION]: value };
}

function withoutExtendedResources(status: NodeStatus = {}): NodeStatus {
  const extended = Object.keys(status.capacity ?? {}).filter(isExtendedResource);
  const none = Object.fromEntries(extended.map((name) => [name, "0"]));
  return { ...status, capacity: { ...status.capacity, ...none }, allocatable: { ...status.allocatable, ...none } };
}

/** Removes a size of huge pages that the kernel no longer has, because the heartbeat never removes a resource. */
function reconcileHugepages(initial: NodeStatus, existing: NodeStatus): NodeStatus {
  const replace = (from: Readonly<Record<string, string>> = {}, into: Readonly<Record<string, string>> = {}) => {
    const others = Object.entries(into).filter(([name]) => !isHugepagesResource(name));
    const hugepages = Object.entries(from).filter(([name]) => isHugepagesResource(name));
    return Object.fromEntries([...others, ...hugepages]);
  };
  return {
    ...existing,
    capacity: replace(initial.capacity, existing.capacity),
    allocatable: replace(initial.allocatable, existing.allocatable),
  };
}
