import { dirname, relative } from "node:path";
import type { ClusterCertificates } from "../../pki/cluster-certificates.ts";
import { formatLinkedKubeconfig } from "../../pki/kubeconfig.ts";

/** The files by which a node of this machine knows its cluster. */
export interface NodeCredentialPaths {
  readonly kubeconfig: string;
  /** The node's client certificate with its key, in one file, so that both change at once. */
  readonly clientPair: string;
  /** The certificates of the cluster's authorities, which somebody else writes. */
  readonly authority: string;
}

/**
 * Computes the content of the node's kubeconfig and client certificate, in the order in which they are written. The
 * kubeconfig names the other files, which the node agent reads anew when they change.
 */
export function computeNodeCredentials(
  { kubeconfig, clientPair, authority }: NodeCredentialPaths,
  { url, nodeName, node }: Pick<ClusterCertificates, "node"> & { readonly url: string; readonly nodeName: string },
): ReadonlyArray<{ readonly path: string; readonly text: string }> {
  if (node === undefined) throw new TypeError("a node's certificate was not planned");
  const linkOf = (path: string) => relative(dirname(kubeconfig), path);
  const paths = { caPath: linkOf(authority), pairPath: linkOf(clientPair) };
  const names = { user: `system:node:${nodeName}`, cluster: "nodelet", context: "nodelet" };
  return [
    { path: clientPair, text: node.certificatePem + node.keyPem },
    { path: kubeconfig, text: formatLinkedKubeconfig({ server: url, ...paths, ...names }) },
  ];
}
