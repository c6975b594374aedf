import { join } from "node:path";

/** Where a standalone node keeps everything; all beneath one directory, readable by root only. */
export interface StateLayout {
  directory: string;
  /** Held by the supervisor that runs here. */
  lock: string;
  /** Of the supervisor: what it started, what ended, what it started anew. */
  supervisorLog: string;
  agentLog: string;
  /** Of the API server and its controllers: their store and certificates. */
  controlPlane: string;
  /** The certificate of the cluster's authority, written by the control plane. */
  clusterAuthority: string;
  controlPlaneLog: string;
  controlPlanePidFile: string;
  /** An administrator's, written by the control plane. */
  kubeconfig: string;
  /** The node's own, written by the control plane. */
  nodeKubeconfig: string;
  agentPidFile: string;
  /** Where the node agent answers `nodelet status`. */
  agentSocket: string;
  kubeletConfig: string;
  /** Kubelet's `--root-dir`: volumes and pod directories. */
  kubeletRoot: string;
  podLogs: string;
  /** Watched for pods when no other directory is named. */
  manifests: string;
  images: string;
  /** Of containerd: see RuntimeLayout. */
  runtime: string;
}

/** Where every kubelet of a machine puts its flat links to container logs. */
export const CONTAINER_LOGS_DIRECTORY = "/var/log/containers";

export const DEFAULT_STATE_DIRECTORY = "/var/lib/nodelet";

/** The layout beneath an absolute directory. */
export function computeStateLayout(directory: string): StateLayout {
  return {
    directory,
    lock: join(directory, "supervisor.lock"),
    supervisorLog: join(directory, "nodelet.log"),
    agentLog: join(directory, "agent.log"),
    controlPlane: join(directory, "control-plane"),
    clusterAuthority: join(directory, "control-plane", "pki", "ca.crt"),
    controlPlaneLog: join(directory, "control-plane.log"),
    controlPlanePidFile: join(directory, "control-plane.pid"),
    kubeconfig: join(directory, "kubeconfig"),
    nodeKubeconfig: join(directory, "node.kubeconfig"),
    agentPidFile: join(directory, "agent.pid"),
    agentSocket: join(directory, "node.sock"),
    kubeletConfig: join(directory, "kubelet.yaml"),
    kubeletRoot: join(directory, "kubelet"),
    podLogs: join(directory, "pod-logs"),
    manifests: join(directory, "manifests"),
    images: join(directory, "images"),
    runtime: join(directory, "containerd"),
  };
}
