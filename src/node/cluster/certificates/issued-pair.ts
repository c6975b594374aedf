import type { CertificateSubject } from "../../../pki/certificate-names.ts";
import { type KeyedCertificate, readCertificate, splitCertificates } from "../../../pki/read-certificate.ts";
import { CertificateError } from "./certificate-error.ts";
import { formatPair, MAX_CERTIFICATES, readPair } from "./pem-pair.ts";
import { findMissing } from "./rotation-plan.ts";

interface Issued {
  /** The name of the request. */
  readonly csr: string;
  /** What the signer answered, of any size and content. */
  readonly certificatePem: string;
  /** The key that the request was made with. */
  readonly keyPem: string;
  /** What the certificate must be for. Default: it may lack what was asked for, as a signer's policy has it. */
  readonly subject?: CertificateSubject | undefined;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

const MAX_PAIR_CHARACTERS = 128 * 1024;

/**
 * The pair of what was issued. It takes the place of one that works, so that nothing is taken which TLS cannot use, or
 * with which the node would be somebody else. Throws a CertificateError `incompatible`.
 */
export function takeIssuedPair({ csr, certificatePem, keyPem, subject, now }: Issued): KeyedCertificate {
  const refuse = (why: string) =>
    new CertificateError("incompatible", `the certificate issued for csr "${csr}" is not used: ${why}`);
  const chain = splitCertificates(certificatePem);
  if (chain.length > MAX_CERTIFICATES) throw refuse(`it comes with more than ${MAX_CERTIFICATES - 1} others`);
  const pair = readPair(certificatePem, keyPem);
  if (pair === undefined) throw refuse("it is not for our key");
  if (formatPair(pair).length > MAX_PAIR_CHARACTERS) throw refuse(`it has more than ${MAX_PAIR_CHARACTERS} characters`);
  const facts = readCertificate(pair.certificatePem);
  if (facts.notAfter <= now) throw refuse("it has expired");
  if (!chain.every(isCertificate)) throw refuse("one that comes with it cannot be read");
  const missing = subject === undefined ? [] : findMissing(facts, subject);
  if (missing.length > 0) throw refuse(`it lacks ${missing.join(", ")}`);
  return pair;
}

function isCertificate(pem: string): boolean {
  try {
    readCertificate(pem);
    return true;
  } catch {
    return false;
  }
}
