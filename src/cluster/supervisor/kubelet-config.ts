import type { OwnCgroup } from "./own-cgroup.ts";

/** The choices of `nodelet up` that end in the node agent's configuration file. */
interface StandaloneKubelet {
  endpoint: string;
  manifests: string;
  podLogs: string;
  /** The port 0 turns the server off. */
  healthzPort: number;
  /** The settings of the node's own API; undefined means that there is none. */
  server: NodeApiChoices | undefined;
  /** The cgroup beneath which pods get theirs; undefined means that they get none. */
  cgroup: OwnCgroup | undefined;
  /** The cluster's DNS, which pods ask. Default: they ask the machine's name servers. */
  dns?: { readonly address: string; readonly domain: string } | undefined;
  /** The file that pods inherit from the machine. */
  resolvConf: string;
  /** Default: `LAPTOP_EVICTION_HARD`. */
  evictionHard?: Readonly<Record<string, string>> | undefined;
}

/**
 * Pods are evicted below these thresholds. The one of memory is as on any node. The disk is the user's own and mostly
 * full for other reasons, so that a kubelet's tenth of it would be a lot: the space kept free here is what the cluster
 * itself needs to go on writing.
 */
const LAPTOP_EVICTION_HARD: Readonly<Record<string, string>> = {
  "memory.available": "100Mi",
  "nodefs.available": "256Mi",
  "nodefs.inodesFree": "1%",
  "imagefs.available": "256Mi",
  "imagefs.inodesFree": "1%",
};

/** The settings of the node's API. The cluster decides who may use it, which is the default of KubeletConfiguration. */
interface NodeApiChoices {
  address: string;
  port: number;
  /** The file of the cluster's own authority. Client certificates that it signed are accepted. */
  clientAuthority: string;
}

/**
 * Computes the text of a KubeletConfiguration for a node that has only its manifests directory. Swap and cgroup v1 are
 * accepted, because this may be any machine of the user. The machine's firewall is left alone: the guard of the pods'
 * network keeps them from its loopback. Images stay when its disk fills: most were built or imported here, and could not
 * be pulled again.
 */
export function computeKubeletConfig(options: StandaloneKubelet): string {
  const fields = {
    apiVersion: "kubelet.config.k8s.io/v1beta1",
    kind: "KubeletConfiguration",
    containerRuntimeEndpoint: options.endpoint,
    staticPodPath: options.manifests,
    podLogsDir: options.podLogs,
    healthzBindAddress: "127.0.0.1",
    healthzPort: options.healthzPort,
    ...computeServer(options.server),
    ...(options.cgroup ?? { cgroupsPerQOS: false, enforceNodeAllocatable: [] }),
    ...(options.dns === undefined ? {} : { clusterDNS: [options.dns.address], clusterDomain: options.dns.domain }),
    resolvConf: options.resolvConf,
    failSwapOn: false,
    failCgroupV1: false,
    makeIPTablesUtilChains: false,
    imageGCHighThresholdPercent: 100,
    evictionHard: options.evictionHard ?? LAPTOP_EVICTION_HARD,
  };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${JSON.stringify(value)}`);
  return `# Written by "nodelet up" at every start; changes are lost.\n${lines.join("\n")}\n`;
}

function computeServer(server: NodeApiChoices | undefined) {
  if (server === undefined) return { enableServer: false };
  const { address, port, clientAuthority } = server;
  return { address, port, authentication: { x509: { clientCAFile: clientAuthority } } };
}
