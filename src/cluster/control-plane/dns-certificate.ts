import { CLUSTER_DNS_USER } from "../../control-plane/bootstrap/cluster-dns-objects.ts";
import type { ClusterCertificates } from "../../pki/cluster-certificates.ts";
import { issueCertificate } from "../../pki/issue-certificate.ts";
import type { KeyedCertificate } from "../../pki/read-certificate.ts";

const DAY_MS = 86_400_000;
/** As long as the control plane's own leaves. Whenever one of those is renewed, so is this. */
const LIFETIME_MS = 365 * DAY_MS;
/** The certificate begins this much in the past, so that a client whose clock is a little behind accepts it. */
const BACKDATE_MS = 300_000;

/** Issues the client certificate of the cluster's DNS server. */
export async function issueDnsCertificate({
  authority,
}: Pick<ClusterCertificates, "authority">): Promise<KeyedCertificate> {
  const now = Date.now();
  return await issueCertificate({
    commonName: CLUSTER_DNS_USER,
    organizations: [],
    usages: ["client"],
    authority,
    notBefore: now - BACKDATE_MS,
    notAfter: now + LIFETIME_MS,
  });
}
