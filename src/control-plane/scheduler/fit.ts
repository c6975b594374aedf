import { type Cluster, type NodeInfo, type PendingPod, withNode, withPods } from "./cluster.ts";
import { createNodeFilter, type FilteredOut } from "./filters/all-filters.ts";
import type { PodInfo } from "./pod-info.ts";

/** Says why the pod does not fit onto a node; undefined when it fits. */
type FitCheck = (node: NodeInfo) => FilteredOut | undefined;

/**
 * Applies all filters, and keeps room for pods that were promised it: nominated pods that are no less important count
 * as if they were on their node. The pod must fit without them too, because they may never come.
 */
export function createFitCheck(pod: PendingPod, cluster: Cluster, nominated: readonly PodInfo[]): FitCheck {
  const filter = createNodeFilter(pod, cluster);
  return (node) => {
    const promised = nominated.filter(({ key, nominatedNode, priority }) => {
      return nominatedNode === node.name && priority >= pod.info.priority && key !== pod.info.key;
    });
    if (promised.length === 0) return filter(node);
    const full = withPods(node, [...node.pods, ...promised]);
    return createNodeFilter(pod, withNode(cluster, full))(full) ?? filter(node);
  };
}
