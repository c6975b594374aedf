import { isUsablePair, type KeyedCertificate, splitCertificates } from "../../../pki/read-certificate.ts";

/** Real chains have two or three certificates; each connection sends all of them. */
export const MAX_CERTIFICATES = 16;

const PRIVATE_KEY = /-----BEGIN ((?:[A-Z]+ )?PRIVATE KEY)-----[^-]+-----END \1-----/;
const REQUEST = /-----BEGIN CERTIFICATE REQUEST-----[^-]+-----END CERTIFICATE REQUEST-----/;

/** Returns the first private key of a text. */
export function findPrivateKey(text: string): string | undefined {
  const pem = PRIVATE_KEY.exec(text)?.[0];
  return pem && `${pem}\n`;
}

/** Returns the first certificate request of a text. */
export function findRequestPem(text: string): string | undefined {
  const pem = REQUEST.exec(text)?.[0];
  return pem && `${pem}\n`;
}

/**
 * Joins certificates and their key into one text, as client-go writes `kubelet-client-current.pem`: leaf,
 * intermediates, key.
 */
export function formatPair({ certificatePem, keyPem }: KeyedCertificate): string {
  return [...splitCertificates(certificatePem), keyPem].map((pem) => `${pem.trimEnd()}\n`).join("");
}

/** Reads what `formatPair` writes. The result is undefined when a part is missing or the key is not the leaf's. */
export function readPair(certificateText: string, keyText: string): KeyedCertificate | undefined {
  const certificatePem = splitCertificates(certificateText).join("");
  const keyPem = findPrivateKey(keyText);
  if (certificatePem === "" || keyPem === undefined) return undefined;
  const pair = { certificatePem, keyPem };
  return isUsablePair(pair) ? pair : undefined;
}
