/**
 * The user as whom the API server calls nodes, by the name in its client certificate, as kubeadm names it. It may use the
 * APIs of nodes and nothing else, and is no user of the API server.
 */
export const KUBELET_CLIENT_USER = "kube-apiserver-kubelet-client";
