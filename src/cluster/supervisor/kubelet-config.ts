/** The choices of `nodelet up` that end in the node agent's configuration file. */
export interface StandaloneKubelet {
  endpoint: string;
  manifests: string;
  podLogs: string;
  /** 0 turns the server off. */
  healthzPort: number;
}

/**
 * The text of a KubeletConfiguration for a node that has nothing but its manifests directory. Swap and cgroup v1 are
 * accepted: this is whatever machine the user has.
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
    enableServer: false,
    failSwapOn: false,
    failCgroupV1: false,
  };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${JSON.stringify(value)}`);
  return `# Written by "nodelet up" at every start; changes are lost.\n${lines.join("\n")}\n`;
}
