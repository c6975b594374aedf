import { dirname, relative } from "node:path";
import { formatLinkedKubeconfig } from "../../pki/kubeconfig.ts";
import type { KeyedCertificate } from "../../pki/read-certificate.ts";

/** The files by which a program of this machine's node knows its cluster. */
export interface NodeCredentialPaths {
  readonly kubeconfig: string;
  /** The client certificate with its key, in one file, so that both change at once. */
  readonly clientPair: string;
  /** The certificates of the cluster's authorities, which somebody else writes. */
  readonly authority: string;
}

/** A program of the node, as the API server knows it. */
interface NodeUser {
  readonly url: string;
  readonly user: string;
  /** Undefined is a programmer's error: the certificate was not planned. */
  readonly pair: KeyedCertificate | undefined;
}

/**
 * Computes the content of a kubeconfig and its client certificate, in the order in which they are written. The
 * kubeconfig names the other files, which the program reads anew when they change.
 */
export function computeNodeCredentials(
  { kubeconfig, clientPair, authority }: NodeCredentialPaths,
  { url, user, pair }: NodeUser,
): ReadonlyArray<{ readonly path: string; readonly text: string }> {
  if (pair === undefined) throw new TypeError(`no certificate was planned for ${user}`);
  const linkOf = (path: string) => relative(dirname(kubeconfig), path);
  const paths = { caPath: linkOf(authority), pairPath: linkOf(clientPair) };
  const names = { user, cluster: "nodelet", context: "nodelet" };
  return [
    { path: clientPair, text: pair.certificatePem + pair.keyPem },
    { path: kubeconfig, text: formatLinkedKubeconfig({ server: url, ...paths, ...names }) },
  ];
}
