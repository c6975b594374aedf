import type { NodeAgentConfig } from "../../config/node-agent-config.ts";

/**
 * Returns, in upstream's words, why the configuration lets no client in, so that there is no server. The result is
 * undefined if there is no such problem.
 */
export function findServerProblem({
  kubelet,
  cluster,
}: Pick<NodeAgentConfig, "kubelet" | "cluster">): string | undefined {
  if (cluster !== undefined) {
    const { x509, webhook, anonymous } = kubelet.authentication;
    const isOpen = x509.clientCAFile !== "" || webhook.enabled === true || anonymous.enabled === true;
    return isOpen ? undefined : "No authentication method configured";
  }
  // A Go kubelet refuses to start with these words. This node starts all the same, because a node without a cluster
  // still has pods to run.
  if (kubelet.authentication.webhook.enabled === true) return "no client provided, cannot use webhook authentication";
  if (kubelet.authorization.mode === "Webhook") return "no client provided, cannot use webhook authorization";
  return undefined;
}

/**
 * Returns what an operator should know of who may use the node's API; undefined if there is nothing. A Go kubelet takes
 * this configuration silently (kubernetes/kubernetes#61254), and kube-apiserver turns anonymous requests off for it.
 */
export function findServerWarning({ kubelet }: Pick<NodeAgentConfig, "kubelet">): string | undefined {
  const { authentication, authorization } = kubelet;
  if (authentication.anonymous.enabled !== true || authorization.mode !== "AlwaysAllow") return undefined;
  return (
    "Whoever reaches the port of the node's API may run commands in every pod of this node, without any credentials: " +
    "set authentication.anonymous.enabled to false, or authorization.mode to Webhook"
  );
}
