/**
 * The user as whom the API server calls nodes, by the name in its client certificate, as kubeadm names it. It may use the
 * APIs of nodes and nothing else, and is no user of the API server.
 */
export const KUBELET_CLIENT_USER = "kube-apiserver-kubelet-client";

/** The name in the certificate by which the API servers of others know ours, and believe in whose name it asks. */
export const FRONT_PROXY_USER = "front-proxy-client";

/** The user as whom the proxy of services reads them, by upstream's name. A role of its own says what it may do. */
export const PROXY_USER = "system:kube-proxy";

/** The user that a node agent is. */
export function nodeUserOf(nodeName: string): string {
  return `system:node:${nodeName}`;
}
