import type { CallTls } from "../../host/web-call.ts";
import type { NodeLocation } from "./node-location.ts";

/** The API server's identity for nodes, in PEM. */
export interface NodeIdentity {
  readonly certificatePem: string;
  readonly keyPem: string;
}

/**
 * Calls with the certificate by which nodes know the API server. The certificates of nodes are not checked: nodes sign
 * their own unless they are given another, and kube-apiserver checks none without `--kubelet-certificate-authority`.
 */
export function nodeTls({ certificatePem, keyPem }: NodeIdentity): CallTls {
  return { cert: certificatePem, key: keyPem, ca: undefined };
}

/** `10.0.0.1:10250`, `[fd00::1]:10250`. */
export function formatHost({ host, port }: Pick<NodeLocation, "host" | "port">): string {
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}
