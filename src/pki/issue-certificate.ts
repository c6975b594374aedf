import type { webcrypto } from "node:crypto";
import type { Extension, JsonGeneralNames, Name, PublicKey } from "@peculiar/x509";
import { alternativeNames, type CertificateSubject, distinguishedName } from "./certificate-names.ts";
import { parseRequest } from "./certificate-request.ts";
import { readUsages } from "./certificate-usages.ts";
import { loadX509, type X509 } from "./load-x509.ts";
import { PkiError } from "./pki-error.ts";
import { type KeyedCertificate, readCertificate } from "./read-certificate.ts";
import type { SubjectIdentity } from "./read-subject.ts";
import { generateKeys, importSigningKey, SIGNATURE } from "./signing-key.ts";

const DAY_MS = 86_400_000;

/** `client`: to authenticate by it; `server`: to serve TLS with it. */
export type CertificateUsage = "client" | "server";

const USAGE_NAMES: Readonly<Record<CertificateUsage, string>> = { client: "client auth", server: "server auth" };

/** When and for what a certificate holds; times in milliseconds since the epoch. */
interface CertificateTerms {
  readonly authority: KeyedCertificate;
  readonly notBefore: number;
  /** Shortened to the authority's own end: no certificate outlives its authority. */
  readonly notAfter: number;
}

/** A self-signed authority that may sign leaves and nothing else. */
export async function createCertificateAuthority(options: {
  commonName: string;
  days: number;
  now: number;
}): Promise<KeyedCertificate> {
  const [x509, { keys, keyPem }] = await Promise.all([loadX509(), generateKeys()]);
  const { digitalSignature, keyCertSign, keyEncipherment } = x509.KeyUsageFlags;
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    name: new x509.Name(distinguishedName(options)),
    keys,
    ...period(options.now, options.now + options.days * DAY_MS),
    signingAlgorithm: { name: "ECDSA", ...SIGNATURE },
    extensions: [
      new x509.KeyUsagesExtension(digitalSignature | keyEncipherment | keyCertSign, true),
      new x509.BasicConstraintsExtension(true, undefined, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
      // As kubeadm's: some verifiers refuse an authority without any alternative name.
      new x509.SubjectAlternativeNameExtension([{ type: "dns", value: options.commonName }]),
    ],
  });
  return { certificatePem: pemOf(certificate), keyPem };
}

/** A certificate with a fresh key. */
export async function issueCertificate(
  options: CertificateSubject & CertificateTerms & { usages: readonly CertificateUsage[] },
): Promise<KeyedCertificate> {
  const [x509, { keys, keyPem }] = await Promise.all([loadX509(), generateKeys()]);
  const subject = new x509.Name(distinguishedName(options));
  const certificatePem = await sign(x509, options, {
    subject,
    publicKey: keys.publicKey,
    alternativeNames: alternativeNames(options),
    usages: ["digital signature", ...options.usages.map((usage) => USAGE_NAMES[usage])],
  });
  return { certificatePem, keyPem };
}

/**
 * Signs a certificate for the key of the request. It says the names that were read and checked (CN, O and alternative
 * names), written anew, and nothing else that the request holds, because bytes that are copied may tell another reader
 * another story. The approver has decided whether the request may have them. `usages` are named as in a CertificateSigningRequest: `digital signature`, `client auth`.
 * Throws a PkiError `InvalidRequest` for usages that are not known and for a request that its own key did not sign.
 */
export async function signCertificateRequest(
  options: CertificateTerms & { requestPem: string; usages: readonly string[] },
): Promise<string> {
  const x509 = await loadX509();
  const { request, names } = parseRequest(x509, options.requestPem);
  if (!(await request.verify())) throw new PkiError("InvalidRequest", "the request is not signed by its own key");
  const certificatePem = await sign(x509, options, {
    subject: new x509.Name(distinguishedName(names)),
    publicKey: request.publicKey,
    alternativeNames: alternativeNames(names),
    usages: options.usages,
  });
  requireSameIdentity(certificatePem, names);
  return certificatePem;
}

/** The parser that TLS uses has the last word before a certificate leaves this process. */
function requireSameIdentity(certificatePem: string, names: SubjectIdentity): void {
  const issued = readCertificate(certificatePem);
  const textOf = (subject: SubjectIdentity) => JSON.stringify([subject.commonName, subject.organizations]);
  if (textOf(issued) === textOf(names)) return;
  throw new PkiError("InvalidRequest", "the certificate would name somebody else than the request");
}

interface Leaf {
  readonly subject: Name;
  readonly publicKey: PublicKey | webcrypto.CryptoKey;
  readonly alternativeNames: JsonGeneralNames;
  readonly usages: readonly string[];
}

async function sign(x509: X509, terms: CertificateTerms, leaf: Leaf): Promise<string> {
  const authority = new x509.X509Certificate(terms.authority.certificatePem);
  const notAfter = Math.min(terms.notAfter, authority.notAfter.getTime());
  const certificate = await x509.X509CertificateGenerator.create({
    subject: leaf.subject,
    // The name as it is encoded there: Go compares issuer and subject byte by byte.
    issuer: authority.subjectName,
    publicKey: leaf.publicKey,
    signingKey: await importSigningKey(terms.authority.keyPem),
    signingAlgorithm: SIGNATURE_OF_KEY,
    ...period(terms.notBefore, notAfter),
    extensions: await leafExtensions(x509, authority.publicKey, leaf),
  });
  return pemOf(certificate);
}

/** The generator completes it with the algorithm of the key. */
const SIGNATURE_OF_KEY = { name: "", ...SIGNATURE };

/** Never one that makes an authority: basic constraints say so, and clients believe them before the key usage. */
async function leafExtensions(
  x509: X509,
  authorityKey: PublicKey,
  { alternativeNames, usages }: Leaf,
): Promise<Extension[]> {
  const { keyUsages, extendedKeyUsages } = readUsages(usages);
  return [
    ...(keyUsages === 0 ? [] : [new x509.KeyUsagesExtension(keyUsages, true)]),
    ...(extendedKeyUsages.length === 0 ? [] : [new x509.ExtendedKeyUsageExtension(extendedKeyUsages)]),
    new x509.BasicConstraintsExtension(false, undefined, true),
    await x509.AuthorityKeyIdentifierExtension.create(authorityKey),
    ...(alternativeNames.length > 0 ? [new x509.SubjectAlternativeNameExtension(alternativeNames)] : []),
  ];
}

/** Certificates count whole seconds; a fraction would be written in a form that Go refuses. */
function period(notBefore: number, notAfter: number): { notBefore: Date; notAfter: Date } {
  const wholeSeconds = (ms: number) => new Date(Math.floor(ms / 1000) * 1000);
  return { notBefore: wholeSeconds(notBefore), notAfter: wholeSeconds(notAfter) };
}

function pemOf(certificate: { toString(format: "pem"): string }): string {
  return `${certificate.toString("pem").trimEnd()}\n`;
}
