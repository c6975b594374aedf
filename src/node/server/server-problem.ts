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
