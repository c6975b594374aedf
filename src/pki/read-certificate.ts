// `toLegacyObject` loads a part of this module by itself, and where that comes first, Node.js 20 leaves the rest of the
// process with a `node:tls` that cannot make secure contexts.
import "node:tls";
import { createPrivateKey, X509Certificate } from "node:crypto";
import { messageOf } from "../base/errors.ts";
import { PkiError } from "./pki-error.ts";

/** A certificate with its private key, both as PEM. */
export interface KeyedCertificate {
  readonly certificatePem: string;
  /** PKCS #8. Its holder can prove to be the subject of the certificate. */
  readonly keyPem: string;
}

/** The content of a certificate. */
export interface CertificateFacts {
  /** Empty where the subject has none, and where it has several, of which other readers take this one or that. */
  readonly commonName: string;
  readonly organizations: readonly string[];
  readonly dnsNames: readonly string[];
  /** Compressed where they are IPv6: `::1`. */
  readonly ipAddresses: readonly string[];
  readonly emailAddresses: readonly string[];
  readonly isAuthority: boolean;
  /** Milliseconds since the epoch. */
  readonly notBefore: number;
  readonly notAfter: number;
}

/** The first certificate of the text. Throws a PkiError `InvalidCertificate`. */
export function readCertificate(pem: string): CertificateFacts {
  const certificate = parseCertificate(pem);
  const { subject } = certificate.toLegacyObject();
  const commonNames = allOf(subject?.CN);
  const names = splitNames(certificate.subjectAltName ?? "");
  return {
    commonName: commonNames.length === 1 ? (commonNames[0] ?? "") : "",
    organizations: allOf(subject?.O),
    dnsNames: valuesOf(names, "DNS:"),
    ipAddresses: valuesOf(names, "IP Address:").map(compressAddress),
    emailAddresses: valuesOf(names, "email:"),
    isAuthority: certificate.ca,
    notBefore: Date.parse(certificate.validFrom),
    notAfter: Date.parse(certificate.validTo),
  };
}

/** True when the authority's key signed the certificate and its name stands in it as the issuer. */
export function isIssuedBy(pem: string, authorityPem: string): boolean {
  const authority = parseCertificate(authorityPem);
  const certificate = parseCertificate(pem);
  return certificate.checkIssued(authority) && certificate.verify(authority.publicKey);
}

/** True when the private key belongs to the certificate. False also for a key that cannot be read. */
export function isKeyOf({ certificatePem, keyPem }: KeyedCertificate): boolean {
  const certificate = parseCertificate(certificatePem);
  try {
    return certificate.checkPrivateKey(createPrivateKey(keyPem));
  } catch {
    return false;
  }
}

/** `isKeyOf`; false also for a certificate that cannot be read. */
export function isUsablePair(pair: KeyedCertificate): boolean {
  try {
    return isKeyOf(pair);
  } catch {
    return false;
  }
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** The certificates of a text, one PEM each, in their order. Everything else in the text is ignored. */
export function splitCertificates(text: string): string[] {
  return [...text.matchAll(CERTIFICATE)].map(([pem]) => `${pem}\n`);
}

function parseCertificate(pem: string): X509Certificate {
  try {
    return new X509Certificate(pem);
  } catch (error) {
    throw new PkiError("InvalidCertificate", `not a certificate: ${messageOf(error)}`, { cause: error });
  }
}

/** An attribute that occurs more than once is a list, contrary to what the types of Node.js say. */
function allOf(value: unknown): string[] {
  const values: unknown[] = Array.isArray(value) ? value : [value];
  return values.filter((entry) => typeof entry === "string");
}

/** `DNS:a, IP Address:::1, URI:"x\u002c y"`: names with a comma are quoted as JSON. */
function splitNames(text: string): string[] {
  return [...text.matchAll(/([^:,]+:)("(?:[^"\\]|\\.)*"|[^,]*)(?:, |$)/g)].map(([, type = "", value = ""]) => {
    return type + (value.startsWith('"') ? String(JSON.parse(value)) : value);
  });
}

function valuesOf(names: readonly string[], type: string): string[] {
  return names.filter((name) => name.startsWith(type)).map((name) => name.slice(type.length));
}

/** The one way of many to write an IPv6 address; an IPv4 address as it is. */
export function compressAddress(address: string): string {
  return address.includes(":") ? new URL(`http://[${address}]/`).hostname.slice(1, -1) : address;
}
