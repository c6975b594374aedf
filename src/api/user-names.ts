/**
 * The user as whom the API server calls nodes, by the name in its client certificate, as kubeadm names it. It may use the
 * APIs of nodes and nothing else, and is no user of the API server.
 */
export const KUBELET_CLIENT_USER = "kube-apiserver-kubelet-client";

/** The user as whom the proxy of services reads them, by upstream's name. A role of its own says what it may do. */
export const PROXY_USER = "system:kube-proxy";

/** The user that a node agent is. */
export function nodeUserOf(nodeName: string): string {
  return `system:node:${nodeName}`;
}
