import type { Cluster, NodeInfo, PendingPod } from "../cluster.ts";

/** The reasons why a pod does not fit onto a node. */
export interface NodeRejection {
  /** In upstream's words: users search for them. */
  readonly reasons: readonly string[];
  /** True when the removal of pods from the node would change nothing (upstream's UnschedulableAndUnresolvable). */
  readonly isFinal: boolean;
}

/** Judges a node for one pod; undefined for a node onto which the pod fits. */
export type NodeFilter = (node: NodeInfo) => NodeRejection | undefined;

/** Prepares a filter for a pod and a cluster; undefined when the filter cannot turn down any node. */
export type CreateFilter = (pod: PendingPod, cluster: Cluster) => NodeFilter | undefined;

/** A change after which a pod that was turned down may fit. */
export type ClusterChange =
  | "node"
  /** A pod left its node, ended there, or requests less than before. */
  | "pod-gone"
  /** A pod came to a node, began to terminate, or got other labels. */
  | "pod-changed"
  | "storage"
  /** A claim of devices, a class or a slice. */
  | "device"
  | "namespace";
