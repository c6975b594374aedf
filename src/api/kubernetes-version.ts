/**
 * The version of Kubernetes that this build follows: its API's schema, its flags and gates, its behaviour. The node and
 * the API server tell the same one, because a kubelet must not be newer than its API server.
 */
export const KUBERNETES_VERSION = "v1.36.2";
