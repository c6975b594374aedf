import { PkiError } from "./pki-error.ts";

/** Bits of the key usage extension (RFC 5280, 4.2.1.3), as the library numbers them. */
const KEY_USAGES: Readonly<Record<string, number>> = {
  signing: 1,
  "digital signature": 1,
  "content commitment": 2,
  "key encipherment": 4,
  "data encipherment": 8,
  "key agreement": 16,
  "cert sign": 32,
  "crl sign": 64,
  "encipher only": 128,
  "decipher only": 256,
};

/** Object identifiers of the extended key usage extension. */
const EXTENDED_KEY_USAGES: Readonly<Record<string, string>> = {
  any: "2.5.29.37.0",
  "server auth": "1.3.6.1.5.5.7.3.1",
  "client auth": "1.3.6.1.5.5.7.3.2",
  "code signing": "1.3.6.1.5.5.7.3.3",
  "email protection": "1.3.6.1.5.5.7.3.4",
  "s/mime": "1.3.6.1.5.5.7.3.4",
  "ipsec end system": "1.3.6.1.5.5.7.3.5",
  "ipsec tunnel": "1.3.6.1.5.5.7.3.6",
  "ipsec user": "1.3.6.1.5.5.7.3.7",
  timestamping: "1.3.6.1.5.5.7.3.8",
  "ocsp signing": "1.3.6.1.5.5.7.3.9",
  "microsoft sgc": "1.3.6.1.4.1.311.10.3.3",
  "netscape sgc": "2.16.840.1.113730.4.1",
};

/** Usages as the certificates API names them. Throws a PkiError `InvalidRequest` for unknown names. */
export function readUsages(usages: readonly string[]): { keyUsages: number; extendedKeyUsages: string[] } {
  let keyUsages = 0;
  const extended = new Set<string>();
  const unknown: string[] = [];
  for (const usage of usages) {
    const bit = KEY_USAGES[usage];
    const identifier = EXTENDED_KEY_USAGES[usage];
    if (bit !== undefined) keyUsages |= bit;
    else if (identifier !== undefined) extended.add(identifier);
    else unknown.push(usage);
  }
  if (unknown.length > 0) throw new PkiError("InvalidRequest", `unrecognized usage values: ${JSON.stringify(unknown)}`);
  return { keyUsages, extendedKeyUsages: [...extended] };
}
