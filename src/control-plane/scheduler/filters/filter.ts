import type { Cluster, NodeInfo, PendingPod } from "../cluster.ts";

/** Why a node will not do. */
export interface NodeRejection {
  /** In upstream's words: users search for them. */
  readonly reasons: readonly string[];
  /** Taking pods away from the node would change nothing (upstream's UnschedulableAndUnresolvable). */
  readonly isFinal: boolean;
}

/** Judges nodes for one pod; undefined for a node that will do. */
export type NodeFilter = (node: NodeInfo) => NodeRejection | undefined;

/** Looks at the pod and the cluster once, and then at each node; undefined when it has nothing against any. */
export type CreateFilter = (pod: PendingPod, cluster: Cluster) => NodeFilter | undefined;

/** A change after which a pod that was turned down may fit. */
export type ClusterChange =
  | "node"
  /** A pod left its node, or ended there, or takes less of it. */
  | "pod-gone"
  /** A pod came to a node, began to terminate, or has other labels. */
  | "pod-changed"
  | "storage"
  | "namespace";
