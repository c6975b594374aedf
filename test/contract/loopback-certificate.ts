import { createCertificateAuthority, issueCertificate } from "../../src/pki/issue-certificate.ts";
import type { KeyedCertificate } from "../../src/pki/read-certificate.ts";

const DAY_MS = 86_400_000;

/** What a server on 127.0.0.1 shows, and who signed it, for a test's day. */
export async function issueLoopbackCertificate(): Promise<{ authority: KeyedCertificate; serving: KeyedCertificate }> {
  const now = Date.now();
  const authority = await createCertificateAuthority({ commonName: "test", days: 1, now });
  const serving = await issueCertificate({
    authority,
    notBefore: now - DAY_MS,
    notAfter: now + DAY_MS,
    commonName: "server",
    organizations: [],
    usages: ["server"],
    dnsNames: [],
    ipAddresses: ["127.0.0.1"],
  });
  return { authority, serving };
}
