import type { JsonGeneralNames, Pkcs10CertificateRequest } from "@peculiar/x509";
import { messageOf } from "../base/errors.ts";
import { alternativeNames, type CertificateSubject, distinguishedName } from "./certificate-names.ts";
import { loadX509, type X509 } from "./load-x509.ts";
import { PkiError } from "./pki-error.ts";
import { generateKeys, SIGNATURE } from "./signing-key.ts";

/** Longer texts are refused: no real request is as long. */
const MAX_REQUEST_LENGTH = 64 * 1024;
const PEM_BLOCK = /^\s*-----BEGIN (NEW )?CERTIFICATE REQUEST-----/;

/** The content of a certificate signing request. */
interface CertificateRequestFacts {
  readonly commonName: string;
  readonly organizations: readonly string[];
  readonly dnsNames: readonly string[];
  readonly ipAddresses: readonly string[];
  readonly emailAddresses: readonly string[];
  readonly uris: readonly string[];
  /** SubjectPublicKeyInfo as PEM. */
  readonly publicKeyPem: string;
  /** True: the request is signed with the private key of its public key. */
  readonly isSignatureValid: boolean;
}

/** Throws a PkiError `InvalidRequest`. A signature that does not hold is a fact, not an error. */
export async function readCertificateRequest(pem: string): Promise<CertificateRequestFacts> {
  const x509 = await loadX509();
  const request = parseRequest(x509, pem);
  const names = requestedNames(x509, request);
  const namesOf = (type: string) => names.filter((name) => name.type === type).map(({ value }) => value);
  return {
    commonName: request.subjectName.getField("CN").at(-1) ?? "",
    organizations: request.subjectName.getField("O"),
    dnsNames: namesOf("dns"),
    ipAddresses: namesOf("ip"),
    emailAddresses: namesOf("email"),
    uris: namesOf("url"),
    publicKeyPem: `${request.publicKey.toString("pem").trimEnd()}\n`,
    isSignatureValid: await request.verify().catch(() => false),
  };
}

/** Loads the library, and returns a function that reads a subject without waiting, for callers that cannot wait. */
export async function loadSubjectReader(): Promise<
  (pem: string) => Pick<CertificateRequestFacts, "commonName" | "organizations">
> {
  const x509 = await loadX509();
  return (pem) => {
    const { subjectName } = parseRequest(x509, pem);
    return { commonName: subjectName.getField("CN").at(-1) ?? "", organizations: subjectName.getField("O") };
  };
}

/** A request with a fresh key on P-256, as a node makes it for its TLS bootstrap. */
export async function createCertificateRequest(
  subject: CertificateSubject,
): Promise<{ requestPem: string; keyPem: string }> {
  const [x509, { keys, keyPem }] = await Promise.all([loadX509(), generateKeys()]);
  const names = alternativeNames(subject);
  const request = await x509.Pkcs10CertificateRequestGenerator.create({
    name: distinguishedName(subject),
    keys,
    signingAlgorithm: { name: "ECDSA", ...SIGNATURE },
    extensions: names.length > 0 ? [new x509.SubjectAlternativeNameExtension(names)] : [],
  });
  return { requestPem: `${request.toString("pem").trimEnd()}\n`, keyPem };
}

/** Throws a PkiError `InvalidRequest`. */
export function parseRequest(x509: X509, pem: string): Pkcs10CertificateRequest {
  if (pem.length > MAX_REQUEST_LENGTH || !PEM_BLOCK.test(pem)) {
    throw new PkiError("InvalidRequest", "PEM block type must be CERTIFICATE REQUEST");
  }
  try {
    return new x509.Pkcs10CertificateRequest(pem);
  } catch (error) {
    throw new PkiError("InvalidRequest", `not a certificate request: ${messageOf(error)}`, { cause: error });
  }
}

/** The alternative names that the request asks for. */
export function requestedNames(x509: X509, request: Pkcs10CertificateRequest): JsonGeneralNames {
  const extension = request.extensions.find((entry) => entry instanceof x509.SubjectAlternativeNameExtension);
  return extension?.names.toJSON() ?? [];
}
