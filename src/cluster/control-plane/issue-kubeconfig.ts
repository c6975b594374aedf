import type { ClusterCertificates } from "../../pki/cluster-certificates.ts";
import { issueCertificate } from "../../pki/issue-certificate.ts";
import { formatKubeconfig } from "../../pki/kubeconfig.ts";

/** The certificate begins this much in the past, so that a client whose clock is a little behind accepts it. */
const BACKDATE_MS = 300_000;

/** The user that a kubeconfig is for. */
interface KubeconfigUser {
  readonly url: string;
  readonly name: string;
  readonly groups: readonly string[];
  readonly lifetimeMs: number;
}

/** Issues a kubeconfig for a user that a certificate of the cluster's own authority names. */
export async function issueKubeconfig(
  { authority, trustedPem }: Pick<ClusterCertificates, "authority" | "trustedPem">,
  { url, name, groups, lifetimeMs }: KubeconfigUser,
): Promise<string> {
  if (name === "") throw new TypeError("a user needs a name");
  const now = Date.now();
  const certificate = await issueCertificate({
    commonName: name,
    organizations: groups,
    usages: ["client"],
    authority,
    notBefore: now - BACKDATE_MS,
    notAfter: now + lifetimeMs,
  });
  const names = { user: name, cluster: "nodelet", context: "nodelet" };
  return formatKubeconfig({ server: url, caPem: trustedPem, ...certificate, ...names });
}
