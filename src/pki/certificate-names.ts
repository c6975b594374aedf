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
}

/** Organizations before the common name, as Go writes them. */
export function distinguishedName(subject: CertificateSubject): Array<Record<string, string[]>> {
  const { commonName, organizations = [] } = subject;
  return [...organizations.map((organization) => ({ O: [organization] })), { CN: [commonName] }];
}

/** Throws a PkiError for text that is no IP address: a name that a certificate lacks is noticed much later only. */
export function alternativeNames({ dnsNames = [], ipAddresses = [] }: CertificateSubject): JsonGeneralNames {
  const bad = ipAddresses.find((address) => isIP(address) === 0);
  if (bad !== undefined) throw new PkiError("InvalidRequest", `not an IP address: ${bad}`);
  return [
    ...dnsNames.map((value) => ({ type: "dns" as const, value })),
    ...ipAddresses.map((value) => ({ type: "ip" as const, value })),
  ];
}
