/** The choices of `nodelet up` that end in the node agent's configuration file. */
interface StandaloneKubelet {
  endpoint: string;
  manifests: string;
  podLogs: string;
  /** 0 turns the server off. */
  healthzPort: number;
  /** The node's own API; undefined: none. */
  server: NodeApiChoices | undefined;
  /** The cgroup beneath which pods get theirs; undefined: they get none. */
  cgroupRoot: string | undefined;
  /** Default: `LAPTOP_EVICTION_HARD`. */
  evictionHard?: Readonly<Record<string, string>> | undefined;
}

/**
 * Below these, pods are ended. Memory as on any node. Of a disk that is the user's own and mostly full for other reasons,
 * a kubelet's tenth would be a lot: what is left here is what the cluster itself needs to go on writing.
 */
const LAPTOP_EVICTION_HARD: Readonly<Record<string, string>> = {
  "memory.available": "100Mi",
  "nodefs.available": "256Mi",
  "nodefs.inodesFree": "1%",
  "imagefs.available": "256Mi",
  "imagefs.inodesFree": "1%",
};

/** Who may use the node's API is asked of the cluster, which is what KubeletConfiguration says without more words. */
interface NodeApiChoices {
  address: string;
  port: number;
  /** File of the cluster's own authority: its certificates are believed. */
  clientAuthority: string;
}

/**
 * The text of a KubeletConfiguration for a node that has nothing but its manifests directory. Swap and cgroup v1 are
 * accepted: this is whatever machine the user has. Images stay when its disk fills: most were built or imported here, and
 * nobody could pull them again.
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
    ...computeCgroups(options.cgroupRoot),
    failSwapOn: false,
    failCgroupV1: false,
    imageGCHighThresholdPercent: 100,
    evictionHard: options.evictionHard ?? LAPTOP_EVICTION_HARD,
  };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${JSON.stringify(value)}`);
  return `# Written by "nodelet up" at every start; changes are lost.\n${lines.join("\n")}\n`;
}

function computeCgroups(cgroupRoot: string | undefined) {
  return cgroupRoot === undefined ? { cgroupsPerQOS: false, enforceNodeAllocatable: [] } : { cgroupRoot };
}

function computeServer(server: NodeApiChoices | undefined) {
  if (server === undefined) return { enableServer: false };
  const { address, port, clientAuthority } = server;
  return { address, port, authentication: { x509: { clientCAFile: clientAuthority } } };
}
