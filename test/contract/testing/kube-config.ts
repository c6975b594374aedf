import { KubeConfig } from "@kubernetes/client-node";

/** The client configuration of a user with access; `url`, in place of the cluster's own, leads through a proxy. */
export function kubeConfigOf({ kubeconfig }: { kubeconfig: string }, url?: string): KubeConfig {
  const config = new KubeConfig();
  config.loadFromString(kubeconfig);
  if (url === undefined) return config;
  const [cluster] = config.getClusters();
  if (cluster === undefined) throw new Error("the kubeconfig has no cluster");
  const through = new KubeConfig();
  through.loadFromOptions({
    clusters: [{ ...cluster, server: url }],
    users: config.getUsers(),
    contexts: config.getContexts(),
    currentContext: config.getCurrentContext(),
  });
  return through;
}
