import { join } from "node:path";

/** The paths of a standalone node. All lie beneath one directory, which only root can read. */
export interface StateLayout {
  directory: string;
  /** The supervisor that runs here holds this lock. */
  lock: string;
  /** The supervisor's log: what it started, what ended, what it restarted. */
  supervisorLog: string;
  agentLog: string;
  /** The store and the certificates of the API server and its controllers. */
  controlPlane: string;
  /** The certificate of the cluster's authority, written by the control plane. */
  clusterAuthority: string;
  controlPlaneLog: string;
  controlPlanePidFile: string;
  /** An administrator's kubeconfig, written by the control plane. */
  kubeconfig: string;
  /** The node's own kubeconfig, written by the control plane. */
  nodeKubeconfig: string;
  /** The node's client certificate with its key, which the control plane renews. */
  nodeClientPair: string;
  /** The kubeconfig of the proxy of services, written by the control plane. */
  proxyKubeconfig: string;
  /** The proxy's client certificate with its key, which the control plane renews. */
  proxyClientPair: string;
  proxyLog: string;
  proxyPidFile: string;
  dnsLog: string;
  dnsPidFile: string;
  /** The DNS server's own kubeconfig, written by the control plane. */
  dnsKubeconfig: string;
  /** The DNS server's client certificate with its key, which the control plane renews. */
  dnsClientPair: string;
  agentPidFile: string;
  /** The socket on which the node agent answers `nodelet status`. */
  agentSocket: string;
  kubeletConfig: string;
  /** The resolver's configuration that pods inherit where the machine's own would not do. */
  resolvConf: string;
  /** The manifests are taken from here when no other directory is named. */
  manifests: string;
  images: string;
  /** The names of the images that stay when the disk is short of space. */
  keptImages: string;
  /** The volumes of the default storage class. They outlive everything else here. */
  localVolumes: string;
  /** The user's configuration of registries, a directory for each: mirrors, certificates, credentials. */
  registries: string;
  /** The directory of containerd; see `RuntimeLayout`. */
  runtime: string;
}

/** Where a node keeps the directories and logs of its pods. */
export interface PodPlaces {
  /** Kubelet's `--root-dir`: volumes, plugins, device plugins. */
  kubeletRoot: string;
  podLogs: string;
}

/** Every kubelet of a machine puts its flat links to container logs into this directory. */
export const CONTAINER_LOGS_DIRECTORY = "/var/log/containers";

export const DEFAULT_STATE_DIRECTORY = "/var/lib/nodelet";

/** Computes the layout beneath an absolute directory. */
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
    nodeClientPair: join(directory, "node-client.pem"),
    proxyKubeconfig: join(directory, "proxy.kubeconfig"),
    proxyClientPair: join(directory, "proxy-client.pem"),
    proxyLog: join(directory, "proxy.log"),
    proxyPidFile: join(directory, "proxy.pid"),
    dnsLog: join(directory, "dns.log"),
    dnsPidFile: join(directory, "dns.pid"),
    dnsKubeconfig: join(directory, "dns.kubeconfig"),
    dnsClientPair: join(directory, "dns-client.pem"),
    agentPidFile: join(directory, "agent.pid"),
    agentSocket: join(directory, "node.sock"),
    kubeletConfig: join(directory, "kubelet.yaml"),
    resolvConf: join(directory, "resolv.conf"),
    manifests: join(directory, "manifests"),
    images: join(directory, "images"),
    keptImages: join(directory, "kept-images"),
    localVolumes: join(directory, "volumes"),
    registries: join(directory, "registries"),
    runtime: join(directory, "containerd"),
  };
}
