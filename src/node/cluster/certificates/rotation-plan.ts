import { isIP } from "node:net";
import type { NodeAddress } from "../../../api/gen/types.ts";
import type { Random } from "../../../base/random.ts";
import type { CertificateSubject } from "../../../pki/certificate-names.ts";
import { type CertificateFacts, compressAddress } from "../../../pki/read-certificate.ts";
import { nodeSubject } from "./pending-request.ts";

/**
 * Computes when a certificate is rotated: at 70 to 90 % of its life, so that nodes that joined together do not renew
 * together (`nextRotationDeadline` of client-go/util/certificate). The result is in milliseconds since the epoch.
 */
export function computeRotationTime(
  { notBefore, notAfter }: Pick<CertificateFacts, "notBefore" | "notAfter">,
  random: Random,
): number {
  return notBefore + (notAfter - notBefore) * (0.7 + 0.2 * random.next());
}

/**
 * Lists the parts of the subject that the certificate lacks; extra names in the certificate are fine. An empty list
 * means that the certificate is as wanted.
 */
export function findMissing(certificate: CertificateFacts, subject: CertificateSubject): string[] {
  const lacks = (what: string, wanted: readonly string[] = [], present: readonly string[]) =>
    wanted.filter((name) => !present.includes(name)).map((name) => `${what} ${name}`);
  return [
    ...lacks("common name", [subject.commonName], [certificate.commonName]),
    ...lacks("organization", subject.organizations, certificate.organizations),
    ...lacks("DNS name", subject.dnsNames, certificate.dnsNames),
    ...lacks("IP address", subject.ipAddresses?.map(compressAddress), certificate.ipAddresses),
  ];
}

/** True when both ask for the same, in any order. */
export function isSameSubject(a: CertificateSubject | undefined, b: CertificateSubject | undefined): boolean {
  return normalForm(a) === normalForm(b);
}

function normalForm(subject: CertificateSubject | undefined): string {
  if (subject === undefined) return "";
  const { commonName, organizations = [], dnsNames = [], ipAddresses = [] } = subject;
  const lists = [organizations, dnsNames, ipAddresses.map(compressAddress)].map((names) => names.toSorted());
  return JSON.stringify([commonName, ...lists]);
}

/**
 * Computes the subject of a node's serving certificate from the addresses of its node object
 * (`addressesToHostnamesAndIPs` of pkg/kubelet/certificate). It is undefined without any IP address, and then no
 * certificate is requested, unless names alone suffice (`AllowDNSOnlyNodeCSR`).
 */
export function computeServingSubject(
  nodeName: string,
  addresses: readonly NodeAddress[],
  { allowsNamesOnly = false }: { readonly allowsNamesOnly?: boolean } = {},
): CertificateSubject | undefined {
  const dnsNames = new Set<string>();
  const ipAddresses = new Set<string>();
  for (const { type, address } of addresses) {
    if (address === "") continue;
    // An address with a zone is valid on this machine only.
    const isAddress = isIP(address) !== 0 && !address.includes("%");
    if (isAddress && /^(Hostname|ExternalIP|InternalIP)$/.test(type)) ipAddresses.add(address);
    if ((type === "Hostname" && !isAddress) || /^(ExternalDNS|InternalDNS)$/.test(type)) dnsNames.add(address);
  }
  if (ipAddresses.size === 0 && !(allowsNamesOnly && dnsNames.size > 0)) return undefined;
  return { ...nodeSubject(nodeName), dnsNames: [...dnsNames].sort(), ipAddresses: [...ipAddresses].sort() };
}
