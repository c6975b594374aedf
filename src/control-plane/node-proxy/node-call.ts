import type { CallTls } from "../../host/web-call.ts";
import type { NodeLocation } from "./node-location.ts";

/** Who the API server is to a node, in PEM. */
export interface NodeIdentity {
  readonly certificatePem: string;
  readonly keyPem: string;
}

/**
 * With the certificate by which nodes know the API server. Theirs is not checked: nodes sign their own unless somebody
 * gives them another, and kube-apiserver does not look either where it has no `--kubelet-certificate-authority`.
 */
export function nodeTls({ certificatePem, keyPem }: NodeIdentity): CallTls {
  return { cert: certificatePem, key: keyPem, ca: undefined };
}

/** `10.0.0.1:10250`, `[fd00::1]:10250`. */
export function formatHost({ host, port }: NodeLocation): string {
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}
