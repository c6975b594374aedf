import { createPrivateKey, type KeyObject, webcrypto } from "node:crypto";
import { messageOf } from "../base/errors.ts";
import { PkiError } from "./pki-error.ts";

const CURVES: Readonly<Record<string, string>> = { prime256v1: "P-256", secp384r1: "P-384", secp521r1: "P-521" };
const P256 = { name: "ECDSA", namedCurve: "P-256" };

/** The hash with which certificates and requests are signed, for all kinds of keys. */
export const SIGNATURE = { hash: "SHA-256" } as const;

/** A fresh key on P-256: made in a millisecond, where RSA takes a hundred and more. */
export async function generateKeys(): Promise<{ keys: webcrypto.CryptoKeyPair; keyPem: string }> {
  const keys = await webcrypto.subtle.generateKey(P256, true, ["sign", "verify"]);
  const der = Buffer.from(await webcrypto.subtle.exportKey("pkcs8", keys.privateKey));
  const keyPem = createPrivateKey({ key: der, format: "der", type: "pkcs8" }).export({ format: "pem", type: "pkcs8" });
  return { keys, keyPem: keyPem.toString() };
}

/** A key to sign with: one of ours, or the RSA or ECDSA key of an authority that was brought along. */
export async function importSigningKey(keyPem: string): Promise<webcrypto.CryptoKey> {
  const key = readPrivateKey(keyPem);
  const der = key.export({ format: "der", type: "pkcs8" });
  return webcrypto.subtle.importKey("pkcs8", der, algorithmOf(key), false, ["sign"]);
}

/** Throws a PkiError `InvalidKey`. */
export function readPrivateKey(keyPem: string): KeyObject {
  try {
    return createPrivateKey(keyPem);
  } catch (error) {
    throw new PkiError("InvalidKey", `not a private key: ${messageOf(error)}`, { cause: error });
  }
}

function algorithmOf(key: KeyObject): { name: string; namedCurve: string } | { name: string; hash: string } {
  const { namedCurve = "" } = key.asymmetricKeyDetails ?? {};
  const curve = CURVES[namedCurve];
  if (key.asymmetricKeyType === "ec" && curve !== undefined) return { name: "ECDSA", namedCurve: curve };
  if (key.asymmetricKeyType === "rsa") return { name: "RSASSA-PKCS1-v1_5", hash: SIGNATURE.hash };
  throw new PkiError("InvalidKey", `a key of type ${key.asymmetricKeyType} ${namedCurve} cannot sign certificates`);
}
