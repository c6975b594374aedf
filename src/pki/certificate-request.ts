import { isIP } from "node:net";
import type { JsonGeneralNames, Pkcs10CertificateRequest } from "@peculiar/x509";
import { messageOf } from "../base/errors.ts";
import { alternativeNames, type CertificateSubject, distinguishedName } from "./certificate-names.ts";
import { loadX509, type X509 } from "./load-x509.ts";
import { PkiError } from "./pki-error.ts";
import { readRequestSubject, type SubjectIdentity } from "./read-subject.ts";
import { generateKeys, SIGNATURE } from "./signing-key.ts";

/** Longer texts are refused: no real request is as long. */
const MAX_REQUEST_LENGTH = 64 * 1024;
const PEM_BEGIN = /^\s*-----BEGIN ((?:NEW )?CERTIFICATE REQUEST)-----/;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/** The names that a request asks for: what it says, and all that a certificate for it may say. */
interface RequestedNames extends SubjectIdentity {
  readonly dnsNames: readonly string[];
  readonly ipAddresses: readonly string[];
  readonly emailAddresses: readonly string[];
  readonly uris: readonly string[];
}

/** The content of a certificate signing request. */
interface CertificateRequestFacts extends RequestedNames {
  /** SubjectPublicKeyInfo as PEM. */
  readonly publicKeyPem: string;
  /** True: the request is signed with the private key of its public key. */
  readonly isSignatureValid: boolean;
}

/** Throws a PkiError `InvalidRequest`. A signature that does not hold is a fact, not an error. */
export async function readCertificateRequest(pem: string): Promise<CertificateRequestFacts> {
  const { request, names } = parseRequest(await loadX509(), pem);
  return {
    ...names,
    publicKeyPem: `${request.publicKey.toString("pem").trimEnd()}\n`,
    isSignatureValid: await request.verify().catch(() => false),
  };
}

/** Loads the library, and returns a function that reads a subject without waiting, for callers that cannot wait. */
export async function loadSubjectReader(): Promise<(pem: string) => SubjectIdentity> {
  const x509 = await loadX509();
  return (pem) => {
    const { commonName, organizations } = parseRequest(x509, pem).names;
    return { commonName, organizations };
  };
}

/** A request with a fresh key on P-256, as a node makes it for its TLS bootstrap. */
export async function createCertificateRequest(
  subject: CertificateSubject,
): Promise<{ requestPem: string; keyPem: string }> {
  const [x509, { keys, keyPem }] = await Promise.all([loadX509(), generateKeys()]);
  const names = alternativeNames(subject);
  const request = await x509.Pkcs10CertificateRequestGenerator.create({
    name: new x509.Name(distinguishedName(subject)),
    keys,
    signingAlgorithm: { name: "ECDSA", ...SIGNATURE },
    extensions: names.length > 0 ? [new x509.SubjectAlternativeNameExtension(names)] : [],
  });
  return { requestPem: `${request.toString("pem").trimEnd()}\n`, keyPem };
}

/**
 * Reads a request whose names all readers of certificates read alike, and whose alternative names can all be told.
 * Throws a PkiError `InvalidRequest` for every other one.
 */
export function parseRequest(x509: X509, pem: string): { request: Pkcs10CertificateRequest; names: RequestedNames } {
  const der = decodePem(pem);
  try {
    const request = new x509.Pkcs10CertificateRequest(der);
    return { request, names: { ...readRequestSubject(der), ...readAlternativeNames(x509, request) } };
  } catch (error) {
    if (error instanceof PkiError) throw error;
    throw new PkiError("InvalidRequest", `not a certificate request: ${messageOf(error)}`, { cause: error });
  }
}

/** The bytes of the first block. The text may go on after it, as with other readers of PEM. */
function decodePem(pem: string): Buffer {
  const [begin = "", label = ""] = (pem.length <= MAX_REQUEST_LENGTH && PEM_BEGIN.exec(pem)) || [];
  const end = pem.indexOf(`-----END ${label}-----`);
  const base64 = pem.slice(begin.length, end).replace(/\s+/g, "");
  if (label !== "" && end !== -1 && BASE64.test(base64)) return Buffer.from(base64, "base64");
  throw new PkiError("InvalidRequest", "PEM block type must be CERTIFICATE REQUEST");
}

type AlternativeNames = Omit<RequestedNames, keyof SubjectIdentity>;

/** The kinds of alternative names that the certificates API knows, as upstream does. Others are not passed on. */
function readAlternativeNames(x509: X509, request: Pkcs10CertificateRequest): AlternativeNames {
  const found = request.extensions.filter((entry) => entry instanceof x509.SubjectAlternativeNameExtension);
  if (found.length > 1) throw new PkiError("InvalidRequest", "the request has its alternative names twice");
  const names: JsonGeneralNames = found[0]?.names.toJSON() ?? [];
  const namesOf = (type: string, isAllowed: (name: string) => boolean) => {
    const values = names.filter((name) => name.type === type).map(({ value }) => value);
    if (values.every(isAllowed)) return values;
    throw new PkiError("InvalidRequest", `an alternative name of the type ${type} is malformed`);
  };
  return {
    dnsNames: namesOf("dns", isVisible),
    ipAddresses: namesOf("ip", (name) => isIP(name) !== 0),
    emailAddresses: namesOf("email", isVisible),
    uris: namesOf("url", isVisible),
  };
}

/** Visible ASCII: everything else in a name means something else to each reader. */
const isVisible = (name: string) => /^[\x21-\x7e]+$/.test(name);
