import { isIP } from "node:net";
import type { JsonGeneralNames } from "@peculiar/x509";
import { PkiError } from "./pki-error.ts";

/** The subject of a certificate, and its other names. */
export interface CertificateSubject {
  readonly commonName: string;
  /** Groups, where a user authenticates by it. */
  readonly organizations?: readonly string[];
  readonly dnsNames?: readonly string[];
  readonly ipAddresses?: readonly string[];
  readonly emailAddresses?: readonly string[];
  readonly uris?: readonly string[];
}

/**
 * Organizations before the common name, as Go writes them, and no name at all where it is empty. The type of text is
 * named, because the library takes a bare text apart: `#` begins hexadecimal bytes, and quotation marks a part of it.
 */
export function distinguishedName(
  subject: Pick<CertificateSubject, "commonName" | "organizations">,
): Array<Record<string, Array<{ utf8String: string }>>> {
  const { commonName, organizations = [] } = subject;
  const named = organizations.map((organization) => ({ O: [{ utf8String: organization }] }));
  return commonName === "" ? named : [...named, { CN: [{ utf8String: commonName }] }];
}

/** Throws a PkiError for text that is no IP address: a name that a certificate lacks is noticed much later only. */
export function alternativeNames(subject: CertificateSubject): JsonGeneralNames {
  const { dnsNames = [], ipAddresses = [], emailAddresses = [], uris = [] } = subject;
  const bad = ipAddresses.find((address) => isIP(address) === 0);
  if (bad !== undefined) throw new PkiError("InvalidRequest", `not an IP address: ${bad}`);
  return [
    ...dnsNames.map((value) => ({ type: "dns" as const, value })),
    ...ipAddresses.map((value) => ({ type: "ip" as const, value })),
    ...emailAddresses.map((value) => ({ type: "email" as const, value })),
    ...uris.map((value) => ({ type: "url" as const, value })),
  ];
}
