import type { HttpServerOptions } from "../../src/host/http-server.ts";
import { createCertificateAuthority, issueCertificate } from "../../src/pki/issue-certificate.ts";
import type { KeyedCertificate } from "../../src/pki/read-certificate.ts";

const DAY_MS = 86_400_000;

/** What a server on 127.0.0.1 shows, and who signed it, for a test's day. */
export interface LoopbackCertificates {
  readonly authority: KeyedCertificate;
  readonly serving: KeyedCertificate;
}

/** A server as the API server is one, on any free port: TLS, HTTP/2, client certificates of this authority. */
export function webOptions({ authority, serving }: LoopbackCertificates): HttpServerOptions {
  const identity = { pair: serving, clientAuthorityPem: authority.certificatePem };
  return {
    at: { address: "127.0.0.1", port: 0 },
    http2: true,
    tls: { identity, asksForCertificate: true },
  };
}

export async function issueLoopbackCertificate(): Promise<LoopbackCertificates> {
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
