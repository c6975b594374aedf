import { type KeyObject, X509Certificate } from "node:crypto";
import type { FieldError } from "../../../api/field-error.ts";
import { invalid, tooLong } from "../../../api/validation/problems.ts";
import { type CertificateFacts, readCertificate } from "../../../pki/read-certificate.ts";
import { findPemBlocks } from "./pem-blocks.ts";

const CHAIN = "status.certificateChain";
const MAX_BYTES = 100 * 1024;
const ADDRESS = /^[^\s@<>]+@[^\s@<>]+$/;

/** A chain whose every certificate can be read, or what is wrong with it. */
type IssuedChain =
  | { readonly leaf: CertificateFacts; readonly errors: readonly [] }
  | { readonly leaf: undefined; readonly errors: readonly FieldError[] };

/**
 * Reads what a signer has issued for a key: PEM of the leaf, then its issuers. Whether they are issuers of each other is
 * not checked, as upstream.
 */
export function readIssuedChain(chain: string, wantedKey: KeyObject | undefined): IssuedChain {
  const wrong = (detail: string, shown = chain) => refused([invalid(CHAIN, shown, detail)]);
  if (Buffer.byteLength(chain) > MAX_BYTES) return refused([tooLong(CHAIN, MAX_BYTES)]);
  const blocks = findPemBlocks(chain);
  const [first, ...rest] = blocks;
  if (first === undefined) return wrong("issued certificate chain must contain at least one certificate");
  if (blocks.some(({ label }) => label !== "CERTIFICATE")) {
    return wrong("issued certificate chain must consist entirely of CERTIFICATE PEM blocks");
  }
  const leaf = parse(first.bytes);
  if (leaf === undefined) return wrong("leaf certificate does not parse as valid X.509");
  if (rest.some(({ bytes }) => parse(bytes) === undefined)) {
    return wrong("intermediate certificate does not parse as valid X.509");
  }
  const errors = validateNames(leaf.facts);
  if (errors.length > 0) return refused(errors);
  if (!isOfKey(leaf.certificate, wantedKey)) {
    return wrong("leaf certificate was not issued to the requested public key");
  }
  return { leaf: leaf.facts, errors: [] };
}

function refused(errors: readonly FieldError[]): IssuedChain {
  return { leaf: undefined, errors };
}

function parse(bytes: Buffer): { certificate: X509Certificate; facts: CertificateFacts } | undefined {
  try {
    const certificate = new X509Certificate(bytes);
    return { certificate, facts: readCertificate(certificate.toString()) };
  } catch {
    return undefined;
  }
}

function isOfKey(certificate: X509Certificate, wanted: KeyObject | undefined): boolean {
  try {
    return wanted !== undefined && certificate.publicKey.equals(wanted);
  } catch {
    return false;
  }
}

function validateNames({ dnsNames, emailAddresses }: CertificateFacts): FieldError[] {
  const ofName = (name: string) => {
    const problems = name === "" ? ["leaf certificate should not contain empty DNSName"] : [];
    if (name.includes("..")) problems.push("leaf certificate's DNSName should not contain '..'");
    if (name.startsWith(".") || name.endsWith(".")) {
      problems.push("leaf certificate's DNSName should not start or end with '.'");
    }
    return problems.map((detail) => invalid(CHAIN, name, detail));
  };
  const strange = emailAddresses.filter((address) => !ADDRESS.test(address));
  return [
    ...dnsNames.flatMap(ofName),
    ...strange.map((address) => invalid(CHAIN, address, "leaf certificate should not contain invalid EmailAddress")),
  ];
}
