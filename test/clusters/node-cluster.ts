import type { ClusterAccess, TestCluster } from "../../src/testing/start-cluster.ts";

/** What a node needs of a cluster, and a test to end it. */
export interface NodeCluster extends Pick<TestCluster, "url" | "kubeconfig" | "stop"> {
  addUser(name: string, groups: readonly string[]): Promise<Pick<ClusterAccess, "kubeconfig">>;
}

/** A cluster with what tests do there themselves: they put objects into it, by kubectl too, and let others in. */
export interface ServedCluster extends NodeCluster, Pick<TestCluster, "apply" | "kubeconfigPath"> {
  addUser(name: string, groups?: readonly string[]): Promise<Pick<ClusterAccess, "kubeconfig" | "kubeconfigPath">>;
}

/** An API server that stops and comes back, on the same port and with all that it had acknowledged. */
export interface RestartableCluster extends NodeCluster {
  stopServer(): Promise<void>;
  startServer(): Promise<void>;
}
